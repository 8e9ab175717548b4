/* pending.c - a ring. */
#include "redis/pending.h"

#include <stdlib.h>

#include "policies/core/bug.h"

bool redis_pending_init(struct redis_pending *pending, unsigned room)
{
	*pending = (struct redis_pending){ .ring = calloc(room, sizeof(*pending->ring)),
		                           .room = room };
	return pending->ring != NULL;
}

void redis_pending_done(struct redis_pending *pending)
{
	free(pending->ring);
	*pending = (struct redis_pending){ 0 };
}

void redis_pending_push(struct redis_pending *pending, const struct redis_expected *expected)
{
	BUG_ON(redis_pending_full(pending));
	pending->ring[(pending->first + pending->count) % pending->room] = *expected;
	pending->count++;
}

struct redis_expected redis_pending_pop(struct redis_pending *pending)
{
	struct redis_expected oldest;

	BUG_ON(pending->count == 0);
	oldest = pending->ring[pending->first];
	pending->first = (pending->first + 1) % pending->room;
	pending->count--;
	return oldest;
}

/* Deadlines differ, a blocking command's is far: not always the oldest is the next. */
usec_t redis_pending_earliest(const struct redis_pending *pending)
{
	usec_t earliest = UINT64_MAX;

	for (unsigned i = 0; i < pending->count; i++) {
		usec_t deadline = pending->ring[(pending->first + i) % pending->room].deadline;

		earliest = deadline < earliest ? deadline : earliest;
	}
	return earliest;
}
