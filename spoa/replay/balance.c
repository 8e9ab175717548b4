/* balance.c - a window over the last requests, and how many of them each replica had. */
#include "spoa/replay/balance.h"

#include <stdbool.h>
#include <stdlib.h>

struct balance {
	uint32_t replicas;
	size_t added, reached;
	uint32_t *had;    /* by replica, of the window */
	uint32_t *window; /* ring of replicas */
	uint32_t outside; /* replicas that have too few or too many */
};

static bool is_outside(uint32_t had)
{
	return 2 * had < BALANCE_EACH || 2 * had > 3 * BALANCE_EACH;
}

struct balance *balance_new(uint32_t replicas)
{
	struct balance *balance = calloc(1, sizeof(*balance));

	if (!balance)
		return NULL;
	balance->replicas = balance->outside = replicas;
	balance->had = calloc(replicas, sizeof(*balance->had));
	balance->window = calloc((size_t)replicas * BALANCE_EACH, sizeof(*balance->window));
	if (balance->had && balance->window)
		return balance;
	balance_free(balance);
	return NULL;
}

void balance_free(struct balance *balance)
{
	if (!balance)
		return;
	free(balance->had);
	free(balance->window);
	free(balance);
}

static void change(struct balance *balance, uint32_t replica, int by)
{
	balance->outside -= is_outside(balance->had[replica]);
	balance->had[replica] += (uint32_t)by;
	balance->outside += is_outside(balance->had[replica]);
}

void balance_add(struct balance *balance, uint32_t replica)
{
	size_t room = (size_t)balance->replicas * BALANCE_EACH;
	size_t at = balance->added++ % room;

	if (balance->added > room)
		change(balance, balance->window[at], -1);
	balance->window[at] = replica;
	change(balance, replica, 1);
	if (balance->reached == 0 && balance->added >= room && balance->outside == 0)
		balance->reached = balance->added;
}

size_t balance_reached(const struct balance *balance)
{
	return balance->reached;
}
