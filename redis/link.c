/* link.c - tries, is greeted, is up, is lost, rests, and tries again.
 *
 *     RESTING --timer--> NAMING --> OPENING --> GREETING --> UP
 *        ^                  |          |           |          |
 *        +------------------+----------+-----------+----------+  fail()
 *
 * All ways back are one function. One timer serves both: the pause, and the deadline of
 * a try. Nobody is called from inside redis_link_new() or redis_link_send(): what fails
 * at once fails in the loop's next turn. */
#include "redis/link.h"

#include <stdio.h>
#include <string.h>

#include "redis/link_parts.h"
#include "redis/redirect.h"

enum {
	TEXT_MAX = REDIS_ADDRESS_MAX + 256,
	REDIRECTS_MAX = 5, /* in a row, at once; then with pauses */
};

/* A link that was up for so long was a good one: the next pause is the first. */
static const usec_t good_after = SECOND;

void redis_link_try_after(struct redis_link *link, usec_t pause)
{
	link->timer.repeat = pause > 100 ? (double)pause / 1e6 : 1e-4;
	ev_now_update(link->loop);
	ev_timer_again(link->loop, &link->timer);
}

/* How long to rest. A cluster's word and the sentinels' are followed at once. */
static usec_t pause_after(struct redis_link *link, enum redis_fault fault)
{
	bool follows = fault == REDIS_FAULT_CHANGED ||
	               (fault == REDIS_FAULT_MOVED && link->redirects <= REDIRECTS_MAX);

	return follows ? 0 : redis_backoff_next(&link->backoff);
}

static void fail(struct redis_link *link, enum redis_fault fault, const char *problem)
{
	bool was_up = link->state == LINK_UP;
	char text[TEXT_MAX];
	struct redis_down down = { .fault = fault, .text = text };

	(void)snprintf(text, sizeof(text), "%s%s%.240s", link->address,
	               link->address[0] != '\0' ? ": " : "", problem);
	if (was_up && link->options.now() - link->up_at >= good_after) {
		redis_backoff_clear(&link->backoff);
		link->redirects = 0;
	}
	if (fault == REDIS_FAULT_MOVED)
		link->redirects++;
	else
		link->next_host++;
	link->counters.faults[fault]++;
	link->state = LINK_RESTING;
	redis_resolve_leave(link->resolve);
	redis_connection_close(link->connection);
	if (link->sentinel)
		redis_sentinel_hurry(link->sentinel, true);
	if (link->sentinel && fault == REDIS_FAULT_NOT_PRIMARY)
		redis_sentinel_doubt(link->sentinel);
	down.retry_in = pause_after(link, fault);
	redis_link_try_after(link, down.retry_in);
	if (link->events.on_down)
		link->events.on_down(link->events.data, &down);
}

void redis_link_on_greeted(void *data)
{
	struct redis_link *link = data;

	link->state = LINK_UP;
	link->up_at = link->options.now();
	link->counters.ups++;
	ev_timer_stop(link->loop, &link->timer);
	if (link->sentinel)
		redis_sentinel_hurry(link->sentinel, false);
	redis_connection_count(link->connection);
	if (link->events.on_up)
		link->events.on_up(link->events.data, link->address);
}

void redis_link_on_refused(void *data, enum redis_fault fault, const char *text)
{
	fail(data, fault, text);
}

void redis_link_on_open(void *data)
{
	struct redis_link *link = data;

	link->state = LINK_GREETING;
	redis_greet(&link->greeting);
}

static void open_address(struct redis_link *link)
{
	link->state = LINK_OPENING;
	redis_connection_open(link->connection, &link->addresses.at[link->address_at],
	                      link->host.name);
}

/* A name may have several addresses, and "localhost" has two of which one is often
 * refused: all of them are one try. */
void redis_link_on_broken(void *data, enum redis_fault fault, const char *text)
{
	struct redis_link *link = data;

	if (link->state == LINK_OPENING && link->address_at + 1 < link->addresses.count) {
		link->address_at++;
		open_address(link);
		return;
	}
	fail(link, fault, text);
}

static void follow(struct redis_link *link, struct span text)
{
	char kept[128];

	if (!redis_redirect_read(text, link->host.name[0] != '\0' ? &link->host : NULL,
	                         &link->redirect)) {
		fail(link, REDIS_FAULT_PROTOCOL, "a redirection that names no place");
		return;
	}
	(void)snprintf(kept, sizeof(kept), "%.*s", (int)text.len, text.at);
	fail(link, REDIS_FAULT_MOVED, kept);
}

/* Which errors say that this connection is not one to go on with. */
void redis_link_on_error(void *data, enum redis_result result, struct span text)
{
	struct redis_link *link = data;

	switch (result) {
	case REDIS_RESULT_LOADING:
		fail(link, REDIS_FAULT_LOADING, text.at);
		return;
	case REDIS_RESULT_READONLY:
	case REDIS_RESULT_MASTERDOWN:
		fail(link, REDIS_FAULT_NOT_PRIMARY, text.at);
		return;
	case REDIS_RESULT_NOAUTH:
		fail(link, REDIS_FAULT_AUTH, text.at);
		return;
	case REDIS_RESULT_MOVED:
		follow(link, text);
		return;
	case REDIS_RESULT_OK:
	case REDIS_RESULT_ASK: /* while keys move: the same node has the others */
	case REDIS_RESULT_TRYAGAIN:
	case REDIS_RESULT_CLUSTERDOWN:
	case REDIS_RESULT_OOM:
	case REDIS_RESULT_NOPERM:
	case REDIS_RESULT_BUSY:
	case REDIS_RESULT_MISCONF:
	case REDIS_RESULT_NOREPLICAS:
	case REDIS_RESULT_ERROR:
	case REDIS_RESULT_LATE:
	case REDIS_RESULT_LOST:
	case REDIS_RESULT_COUNT:
		return;
	}
}

static void on_resolved(void *data, const struct redis_addresses *addresses, const char *problem)
{
	struct redis_link *link = data;

	if (problem) {
		fail(link, REDIS_FAULT_NAME, problem);
		return;
	}
	link->addresses = *addresses;
	open_address(link);
}

/* False: nobody to try, and that has been told. */
static bool choose_host(struct redis_link *link)
{
	const struct redis_url *url = &link->options.url;
	const struct redis_host *primary;

	link->address[0] = '\0';
	if (link->redirect.name[0] != '\0') {
		link->host = link->redirect;
		link->redirect.name[0] = '\0';
		return true;
	}
	if (!link->sentinel) {
		link->host = url->hosts[link->next_host % url->host_count];
		return true;
	}
	primary = redis_sentinel_primary(link->sentinel);
	if (!primary) {
		fail(link, REDIS_FAULT_SENTINEL, redis_sentinel_problem(link->sentinel));
		return false;
	}
	link->host = *primary;
	return true;
}

static void show_host(struct redis_link *link)
{
	bool numeric = strchr(link->host.name, ':') != NULL;

	(void)snprintf(link->address, sizeof(link->address), "%s%s%s:%u", numeric ? "[" : "",
	               link->host.name, numeric ? "]" : "", (unsigned)link->host.port);
}

static void try_now(struct redis_link *link)
{
	const struct redis_url *url = &link->options.url;

	link->counters.connects++;
	link->state = LINK_NAMING;
	link->address_at = 0;
	redis_link_try_after(link, link->options.connect_deadline);
	if (url->place == REDIS_AT_PATH && link->redirect.name[0] == '\0') {
		link->host.name[0] = '\0';
		(void)snprintf(link->address, sizeof(link->address), "%s", url->path);
		redis_address_of_path(url->path, &link->addresses);
		open_address(link);
		return;
	}
	if (!choose_host(link))
		return;
	show_host(link);
	if (redis_address_read(link->host.name, link->host.port, &link->addresses))
		open_address(link);
	else if (!redis_resolve_ask(link->resolve, link->host.name, link->host.port, on_resolved,
	                            link))
		fail(link, REDIS_FAULT_NAME, "no thread to look the name up");
}

void redis_link_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct redis_link *link = timer->data;

	(void)loop;
	(void)events;
	switch (link->state) {
	case LINK_RESTING:
		try_now(link);
		return;
	case LINK_NAMING:
		fail(link, REDIS_FAULT_NAME, "the name was not looked up in time");
		return;
	case LINK_OPENING:
		fail(link, REDIS_FAULT_CONNECT_LATE, "no connection in time");
		return;
	case LINK_GREETING:
		fail(link, REDIS_FAULT_CONNECT_LATE, "connected, but not greeted in time");
		return;
	case LINK_UP:
		ev_timer_stop(link->loop, timer);
		return;
	}
}

void redis_link_on_primary(void *data)
{
	struct redis_link *link = data;
	const struct redis_host *primary = redis_sentinel_primary(link->sentinel);

	redis_backoff_clear(&link->backoff);
	if (link->state == LINK_RESTING)
		redis_link_try_after(link, 0);
	else if (primary->port != link->host.port || strcmp(primary->name, link->host.name) != 0)
		fail(link, REDIS_FAULT_CHANGED, "the sentinels name another primary");
}

void redis_link_leave(struct redis_link *link, enum redis_fault fault, const char *text)
{
	fail(link, fault, text);
}
