/* soft_k.c - the k least loaded candidates, then chance.
 *
 * Sampling two at random (power of two) can sample two bad ones; always taking
 * the best makes every router that sees the same snapshot take the same one.
 * soft_k does neither: the overloaded never enter the draw, and those in it
 * share the arrivals, each with a weight of 1 / (1 + load).
 *
 * k = 1 is strict least-loaded. With several agents, "auto" is as wide as their counts are stale:
 * one more for each request that they are expected to have sent here since,
 * k = clamp(2 + floor(lambda age), 2, min(n, 16)). */
#include <math.h>

#include "policies/core/bug.h"
#include "policies/pickers/least.h"
#include "policies/pickers/pickers.h"
#include "policies/state/facts.h"

enum { K_MAX = 16, K_LEAST = 2, K_AUTO = 0 };

struct settings {
	uint32_t k;
	int by; /* enum load_by */
};

static double weight(const struct least *least)
{
	return 1 / (1 + least->load);
}

/* lambda: of those standing. */
static uint32_t widened(const struct walk *walk)
{
	const struct peers *peers = walk->facts->peers;
	double rate = 0, k;

	if (peers_count(peers) == 0)
		return K_LEAST;
	for (size_t i = 0; i < walk->standing; i++)
		rate += peers_rate(peers, walk->pool[i].target->id, walk->now);
	k = K_LEAST + floor(rate * peers_age(peers, walk->now));
	return k < K_MAX ? (uint32_t)k : K_MAX;
}

static size_t pick(struct walk *walk, const void *settings)
{
	const struct settings *soft_k = settings;
	struct least least[LEAST_MAX];
	uint32_t k = soft_k->k == K_AUTO ? widened(walk) : soft_k->k;
	size_t taken = least_loaded(walk, (enum load_by)soft_k->by, k, least);
	double total = 0;
	double drawn;

	BUG_ON(taken == 0);
	for (size_t i = 0; i < taken; i++)
		total += weight(&least[i]);

	drawn = rng_unit(walk->rng) * total;
	for (size_t i = 0; i + 1 < taken; i++) {
		drawn -= weight(&least[i]);
		if (drawn < 0)
			return least[i].at;
	}
	return least[taken - 1].at;
}

static const struct option options[] = {
	{ "k", OPTION_COUNT, offsetof(struct settings, k), 1, K_MAX, 2, "targets",
	  "How many of the least loaded targets take part in the draw; \"auto\": with several "
	  "agents, "
	  "the more the older their counts are.",
	  "auto", false },
	{ "by", OPTION_CHOICE, offsetof(struct settings, by), 0, BY_LOAD_BALANCE, BY_RUNNING, "",
	  "What load is measured by.", LOAD_BY_CHOICES, false },
	{ 0 },
};

const struct picker picker_soft_k = {
	.name = "soft-k",
	.help = "Draws among the k least loaded targets, the less loaded the likelier.",
	.pick = pick,
	.settings_size = sizeof(struct settings),
	.options = options,
};
