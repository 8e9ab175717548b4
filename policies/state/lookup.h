/* lookup.h - from a hash to the places that may be meant: the index of a table
 * that somebody else keeps.
 *
 * Only place numbers are kept; the caller compares. Nothing is removed but all at
 * once. Never fuller than half, so a walk is short. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"

struct lookup;

/* Room for this many places, at most 2^30. NULL when out of memory. */
MUST_CHECK struct lookup *lookup_new(uint32_t room);
void lookup_free(struct lookup *lookup);
void lookup_clear(struct lookup *lookup);
/* Never more than the room between two clears. */
void lookup_add(struct lookup *lookup, uint64_t hash, uint32_t place);

/* Begin with *at = 0; each call gives another place of this hash, or of one that
 * looks like it; false after the last. */
bool lookup_next(const struct lookup *lookup, uint64_t hash, uint32_t *at, uint32_t *ret_place);

/* Of a name (at NULL: of none), seeded with what else belongs to the key. */
uint64_t lookup_hash(struct span name, uint64_t seed);
