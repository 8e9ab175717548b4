/* late.h - ids of decisions whose answer waits for a peer that does not read.
 *
 * HAProxy waits for an answer only so long; then the stream goes on without us,
 * and what was decided for it must be undone. An answer that the kernel takes at
 * once needs no record, so records are few: one pool for all connections, made
 * at start. When it is used up answers are sent all the same, but not watched. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"
#include "policies/core/time.h"

enum { LATE_ID_MAX = 64 };

struct late_answer {
	struct late_answer *next;
	uint64_t end;   /* position in the connection's output behind its last byte */
	usec_t read_at; /* when its question came */
	uint32_t id_length;
	char id[LATE_ID_MAX];
};

struct late_pool {
	struct late_answer *all, *unused;
};

/* Of one connection, in the order of its output; zero = empty. */
struct late_queue {
	struct late_answer *first, *last;
};

/* False when out of memory. */
MUST_CHECK bool late_pool_init(struct late_pool *pool, uint32_t answers);
/* Queues must be empty. Accepts a zeroed pool. */
void late_pool_done(struct late_pool *pool);

/* False: no record left, or an id too long. The id is copied. */
MUST_CHECK bool late_keep(struct late_pool *pool, struct late_queue *queue, struct span id,
                          uint64_t end, usec_t read_at);
/* The next answer whose last byte lies before `written`; NULL if there is none.
 * Good until the next call with this pool. */
const struct late_answer *late_take(struct late_pool *pool, struct late_queue *queue,
                                    uint64_t written);
