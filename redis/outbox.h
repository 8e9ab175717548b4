/* outbox.h - what was learnt and is still to be told to other agents.
 *
 * Learning happens between a request and its answer, so that costs no more than a copy into a ring;
 * what nobody fetched in time is dropped, oldest first, and counted. A binding that is
 * only confirmed anew is told once in OUTBOX_REFRESH at most; each pin is told, since
 * pins_heard() counts on it.
 *
 * What was told stays, as long as there is room for it, and is told again when the store has
 * lost it, with its age: as far as it is still so by what we know, and what happens to a target
 * if it did in the last OUTBOX_REFRESH.
 *
 * Names are looked up when a batch is made. A target that is gone by then, or whose id means
 * somebody else, is not told of. */
#pragma once

#include "policies/core/share.h"
#include "policies/state/facts.h"
#include "redis/keys.h"
#include "redis/wire.h"

struct outbox;

#define OUTBOX_REFRESH (10 * SECOND)

/* kept_bytes: a power of two, of what is for the stream of that name. Facts: whose names, and
 * what is still so; they must outlive it. NULL when out of memory. The only allocation. */
MUST_CHECK struct outbox *outbox_new(struct facts *facts, uint32_t kept_bytes);
void outbox_free(struct outbox *outbox);

/* For facts->share. */
const struct share *outbox_share(const struct outbox *outbox);
/* The time of what is told until the next call; about each 100 ms. */
void outbox_tick(struct outbox *outbox, usec_t now);

/* The store has lost what was told in this stream: all that is still there waits once more. */
void outbox_again(struct outbox *outbox, enum keys_stream stream);

/* Adds to the batch what waits from the position on (0: the oldest), as far as it has room; of
 * what is told again a part only.
 * The position of the first that is not in it. Nothing is done with until outbox_done(). */
uint64_t outbox_fill(struct outbox *outbox, enum keys_stream stream, uint64_t position,
                     struct wire_writer *writer);
/* What stands before the position arrived. */
void outbox_done(struct outbox *outbox, enum keys_stream stream, uint64_t position);

uint32_t outbox_waiting(const struct outbox *outbox, enum keys_stream stream);
struct outbox_counts {
	uint64_t told, dropped;
	uint64_t again;  /* told again, as the store had lost it */
	uint64_t spared; /* confirmed anew, too soon */
	uint64_t gone;   /* targets that were, when it could be told */
};
struct outbox_counts outbox_counts(const struct outbox *outbox);
