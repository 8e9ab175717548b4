/* sentinel.h - who the primary is, asked again and again: the answer changes.
 *
 * A link of its own to one of the sentinels, the next one if it fails or does not know.
 * Asking each second finds a change that nobody tells of (a sentinel's message may be
 * lost, and a primary that is cut off from the sentinels still answers us). */
#pragma once

#include "redis/link.h"

struct redis_sentinel;

struct redis_sentinel_events {
	void *data;
	void (*on_primary)(void *data); /* it is known now, or another one */
};

/* The options are those of the store's link. NULL, and why. */
MUST_CHECK struct redis_sentinel *redis_sentinel_new(struct ev_loop *loop,
                                                     const struct redis_options *options,
                                                     const struct redis_sentinel_events *events,
                                                     struct error *error);
void redis_sentinel_free(struct redis_sentinel *sentinel);

/* The last that was named; NULL: none yet. */
const struct redis_host *redis_sentinel_primary(const struct redis_sentinel *sentinel);
/* Whether to ask four times a second, because the store is away, or once. */
void redis_sentinel_hurry(struct redis_sentinel *sentinel, bool hurry);
/* The primary that it named is none: ask another sentinel. */
void redis_sentinel_doubt(struct redis_sentinel *sentinel);
/* Why none is known. */
const char *redis_sentinel_problem(const struct redis_sentinel *sentinel);
