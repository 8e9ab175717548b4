/* pipeline.h - the way in: a request becomes a decision, and its slot is taken.
 *
 * The decider owns the scratch memory of a walk, so that nothing is allocated
 * per request; one decider, one thread. */
#pragma once

#include "policies/core/route.h"
#include "policies/stages/stage.h"
#include "policies/state/facts.h"

struct decider;

/* seed: of every draw. NULL when out of memory. facts must outlive it. */
MUST_CHECK struct decider *decider_new(struct facts *facts, uint64_t seed);
void decider_free(struct decider *decider);

/* Decides and takes the slot, in one step. Cannot fail. What the decision points
 * to is good until the next call or fleet change. */
void decider_decide(struct decider *decider, const struct request *request, usec_t now,
                    struct decision *ret_decision);

/* The same walk without taking a slot, counting, binding or drawing from the
 * decider's own random sequence: for explain. */
void decider_explain(struct decider *decider, const struct request *request, usec_t now,
                     struct decision *ret_decision);

/* The stages in their order, for schema, documentation, metrics and tests; NULL
 * after the last. */
const struct stage *pipeline_stage(size_t i);
