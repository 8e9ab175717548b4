/* link_parts.h - a link from inside: of link.c, which runs it, link_new.c, which makes it, and
 * sentinel.c. */
#pragma once

#include "redis/backoff.h"
#include "redis/connection.h"
#include "redis/greeting.h"
#include "redis/resolve.h"
#include "redis/sentinel.h"
#include "redis/tls.h"

enum { REDIS_ADDRESS_MAX = REDIS_HOST_MAX + 10 /* with [ ] and a port */ };

enum redis_link_state { LINK_RESTING, LINK_NAMING, LINK_OPENING, LINK_GREETING, LINK_UP };

struct redis_link {
	struct ev_loop *loop;
	struct redis_options options;
	struct redis_events events;
	struct redis_counters counters;
	enum redis_link_state state;
	ev_timer timer;
	struct redis_backoff backoff;
	struct redis_connection *connection;
	struct redis_resolve *resolve;
	struct redis_tls *tls;           /* NULL: none */
	struct redis_sentinel *sentinel; /* NULL: none */
	struct redis_greeting greeting;

	unsigned next_host;
	struct redis_host host;     /* who is tried, or up; name "" for a path */
	struct redis_host redirect; /* where a cluster sent us, for one try; name "": nowhere */
	unsigned redirects;         /* in a row */
	struct redis_addresses addresses;
	unsigned address_at;
	char address[REDIS_ADDRESS_MAX];
	usec_t up_at;
};

/* Callbacks of the parts, data is the link. */
void redis_link_on_timer(struct ev_loop *loop, ev_timer *timer, int events);
void redis_link_on_open(void *data);
void redis_link_on_error(void *data, enum redis_result result, struct span text);
void redis_link_on_broken(void *data, enum redis_fault fault, const char *text);
void redis_link_on_greeted(void *data);
void redis_link_on_refused(void *data, enum redis_fault fault, const char *text);
void redis_link_on_primary(void *data);

/* Gives up who it is up with, and goes to the next host of its list. */
void redis_link_leave(struct redis_link *link, enum redis_fault fault, const char *text);
/* Tries after this pause. */
void redis_link_try_after(struct redis_link *link, usec_t pause);
