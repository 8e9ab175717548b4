/* decider.h - the memory of a decider; for pipeline.c and decider.c only. */
#pragma once

#include "policies/blend.h"
#include "policies/core/policy.h"
#include "policies/pipeline.h"
#include "policies/stages/scratch.h"

enum { RULES_LATCHED = 64 }; /* rules beyond share the last one's latch */

struct decider {
	struct facts *facts;
	struct rng rng;
	uint64_t sequence;
	uint32_t targets;
	struct scratch levels[2]; /* [0] instances, [1] replicas */
	struct holding *holdings; /* by target id */
	struct prefix_match *matches;
	uint32_t stamp;
	bool *latched; /* by target id of an instance, then by rule */
	double *turns; /* of the weighted round robin, by target id */
	struct prompt prompt;
	struct blend asked_strategy; /* made of what a header says */
	struct entry_policy asked[2]
	                         [CHAIN_MAX]; /* the chain with the strategy of header or profile */
};

/* What the index knows of decider->prompt, for both levels. */
void decider_match(struct decider *decider, usec_t now);
