/* level.h - one level of the walk: its stages, its chain of entries. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/route.h"

struct chain {
	const struct entry_policy *entries;
	uint32_t count; /* >= 1 */
};

/* Walks over the candidates of walk->rule, or walk->instance. The walk comes with
 * its sources, memory, rng and time set, and all else zero.
 *
 * WALK_CHOSEN: ret_trace->chosen is an index into the pool. WALK_NOBODY,
 * WALK_FALLBACK: walk->ended_by says which stage left nobody. WALK_EXHAUSTED:
 * walk->overload, hard and wait_s say why. */
enum walk_end level_walk(struct walk *walk, const struct chain *chain,
                         struct level_trace *ret_trace);
