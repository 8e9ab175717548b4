/* ring.h - records of any length that wait for their turn; the oldest make place.
 *
 * Positions only grow. A reader goes on from a position of its own, so what was sent can
 * be sent again until it is told that it arrived. What arrived stays behind those that wait, as
 * long as there is room, should it be lost where it arrived. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "policies/core/error.h"

struct ring;

/* bytes: a power of two, 256..2^30. NULL when out of memory. The only allocation. */
MUST_CHECK struct ring *ring_new(uint32_t bytes);
void ring_free(struct ring *ring);

/* Room for a record of so many bytes, aligned for numbers, to be filled by the caller before the
 * next call. Drops as many of the oldest as it takes; those that never arrived are counted. NULL:
 * it is larger than a quarter of the ring, and counts as dropped. */
void *ring_push(struct ring *ring, uint32_t size);

/* The record at the position, or the oldest that waits if that was dropped or is done with, and
 * the position behind it. NULL: there is none yet. */
const void *ring_at(const struct ring *ring, uint64_t position, uint64_t *ret_next);
/* All before the position is done with: it arrived. */
void ring_done(struct ring *ring, uint64_t position);
/* All that arrived and is still there waits once more. */
void ring_again(struct ring *ring);
/* The position behind the last that arrived at some time. */
uint64_t ring_arrived(const struct ring *ring);

uint32_t ring_count(const struct ring *ring);   /* that wait */
uint64_t ring_dropped(const struct ring *ring); /* since it was made, before they arrived */
