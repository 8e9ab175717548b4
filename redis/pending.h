/* pending.h - commands that were sent and have no reply yet, in the order of their replies. */
#pragma once

#include "redis/link.h"

struct redis_expected {
	void (*on_reply)(void *data, enum redis_result result, const struct redis_reply *reply);
	void *data;
	usec_t deadline; /* a point in time */
};

struct redis_pending {
	struct redis_expected *ring;
	unsigned room, first, count;
};

/* False: out of memory. */
MUST_CHECK bool redis_pending_init(struct redis_pending *pending, unsigned room);
void redis_pending_done(struct redis_pending *pending);

static inline bool redis_pending_full(const struct redis_pending *pending)
{
	return pending->count == pending->room;
}
/* There must be room. */
void redis_pending_push(struct redis_pending *pending, const struct redis_expected *expected);
/* The oldest; there must be one. */
struct redis_expected redis_pending_pop(struct redis_pending *pending);
/* Of them all; there must be one. */
usec_t redis_pending_earliest(const struct redis_pending *pending);
