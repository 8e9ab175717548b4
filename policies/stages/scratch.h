/* scratch.h - room for one level of a walk, made once by the decider so that no
 * walk allocates. */
#pragma once

#include "policies/core/route.h"

/* What the prefix index said of a target; valid while the stamp is the walk's. */
struct holding {
	uint32_t stamp;
	uint8_t blocks; /* consecutive, from the root */
	bool continued; /* others went on from the deepest */
};

struct scratch {
	size_t room;                    /* of each array but holdings */
	struct candidate *pool;         /* the walk's candidates */
	struct load *loads;             /* one for each of them */
	struct candidate *members;      /* level 1: replicas of all candidates together */
	uint32_t *order;                /* for the shuffle */
	double *values;                 /* of one signal */
	double *sorted;                 /* of those, for the median */
	const struct holding *holdings; /* by target id */
	uint32_t stamp;                 /* of the holdings that are this request's */
	bool any_match;                 /* there are any */
	double tokens_per_byte;         /* of the policy */
	uint8_t source;                 /* the bit of the HAProxy that asks, in replica->sources */
	const uint32_t *banned;         /* target ids of instances that failed at level 2 */
	size_t banned_count;
};
