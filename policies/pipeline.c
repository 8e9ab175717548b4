/* pipeline.c - the order of the stages, and the way from level 1 to level 2.
 *
 * An instance is chosen, then a replica in it. Where its replicas yield nobody
 * the next best instance is asked, a few times. What is left goes to the
 * fallback services; is refused, if the overload is certain; or goes in turn to
 * those who are configured: no fault of ours, of an engine's page or of a store
 * may become an outage. */
#include "policies/pipeline.h"

#include "policies/deadline.h"
#include "policies/ends.h"
#include "policies/reserve.h"
#include "policies/stages/affinity.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"
#include "policies/verdict.h"

/* The route of every request. Rules first, protection next, preference last. */
static const struct stage *const route[] = {
	&stage_collect,   &stage_role,      &stage_health,  &stage_affinity, &stage_retried,
	&stage_limits,    &stage_measure,   &stage_adapter, &stage_session,  &stage_prefix,
	&stage_admission, &stage_objective, &stage_share,   &stage_serving,  &stage_imbalance,
	&stage_deepest,   &stage_score,
};

_Static_assert(sizeof(route) / sizeof(route[0]) <= WALK_STAGES_MAX, "the trace is too short");

const struct stage *pipeline_stage(size_t i)
{
	return i < sizeof(route) / sizeof(route[0]) ? route[i] : NULL;
}

/* Nobody took the request: whoever reads the record wants all numbers of all
 * candidates, whether the strategy asked for them or not. */
static void read_all(struct walk *walk)
{
	walk->wants_load = true;
	walk->averages_only = false;
	stage_measure.run(walk);
}

/* HAProxy has chosen the instance. */
static void decide_inside(struct passage *passage, struct decision *ret_decision)
{
	const struct instance *instance =
	        fleet_instance_named(passage->decider->facts->fleet, passage->request->backend);
	enum walk_end end;

	if (!instance) {
		verdict_nobody(REASON_NO_CANDIDATE, ret_decision);
		return;
	}
	end = passage_walk_replicas(passage, instance, &ret_decision->levels[1]);
	if (end == WALK_CHOSEN) {
		verdict_replica(passage, ret_decision);
		return;
	}
	if (passage->walks[1].late) {
		verdict_instance(instance, REASON_LATE, ret_decision);
		return;
	}
	read_all(&passage->walks[1]);
	passage_note_failure(passage, &passage->walks[1], end);
	if (passage_limited(passage))
		verdict_limit(passage, ret_decision);
	else if (passage->overload && passage_policy(passage)->reject_on_overload)
		verdict_overload(passage, ret_decision);
	else
		verdict_instance(instance,
		                 end == WALK_NOBODY ? REASON_NO_CANDIDATE : REASON_FAIL_OPEN,
		                 ret_decision);
}

/* No instance is left to try; end and walks[0] are those of the last walk over them. */
static void decide_at_the_end(struct passage *passage, enum walk_end end,
                              struct decision *ret_decision)
{
	const struct policy *policy = passage_policy(passage);
	const struct walk *walk = &passage->walks[0];
	bool none = end == WALK_FALLBACK && walk->ended_by != &stage_health &&
	            walk->ended_by != &stage_affinity;
	const struct instance *instance;

	read_all(&passage->walks[0]);
	if (!none && passage_limited(passage)) {
		verdict_limit(passage, ret_decision);
		return;
	}
	instance = ends_fallback(walk);
	if (instance) {
		if (policy->levels == LEVELS_BOTH &&
		    passage_walk_replicas(passage, instance, &ret_decision->levels[1]) ==
		            WALK_CHOSEN)
			verdict_replica(passage, ret_decision);
		verdict_instance(instance, REASON_FALLBACK, ret_decision);
		return;
	}
	if (none && passage->banned_count == 0) {
		verdict_unanswered(passage, ret_decision);
		return;
	}
	/* Where all were asked in vain the last walk found nobody: it adds nothing. */
	if (!none)
		passage_note_failure(passage, walk, end);
	if (passage->overload && policy->reject_on_overload && ends_fallback_is_over(walk)) {
		verdict_overload(passage, ret_decision);
		return;
	}
	instance = ends_in_turn(walk, passage->decider->turns);
	if (instance)
		verdict_instance(instance, REASON_FAIL_OPEN, ret_decision);
	else if (affinity_is_strict(walk))
		verdict_isolated(ret_decision);
	else
		verdict_nobody(REASON_NO_CANDIDATE, ret_decision);
}

static void decide_both(struct passage *passage, struct decision *ret_decision)
{
	bool both = passage_policy(passage)->levels == LEVELS_BOTH;
	const struct instance *instance;
	enum walk_end end;

	for (;;) {
		end = passage_walk_instances(passage, &ret_decision->levels[0]);
		if (end != WALK_CHOSEN || passage->banned_count > INSTANCE_RETRIES)
			break;
		instance = verdict_chosen(&ret_decision->levels[0])->instance;
		if (!both) {
			verdict_instance(instance, verdict_reason(passage, ret_decision),
			                 ret_decision);
			return;
		}
		end = passage_walk_replicas(passage, instance, &ret_decision->levels[1]);
		if (end == WALK_CHOSEN) {
			verdict_replica(passage, ret_decision);
			return;
		}
		if (end == WALK_NOBODY) {
			verdict_instance(instance, verdict_reason(passage, ret_decision),
			                 ret_decision);
			return;
		}
		passage_note_failure(passage, &passage->walks[1], end);
		passage->banned[passage->banned_count++] = instance->target->id;
	}
	decide_at_the_end(passage, end, ret_decision);
}

/* Output tokens per second of all replicas of the instance; 0: not known. */
static double capacity_of(const struct facts *facts, const struct instance *instance)
{
	double sum = 0, capacity;

	for (uint32_t i = 0; i < instance->replica_count; i++)
		if (rates_capacity(facts->rates, instance->replicas[i].target->id, &capacity))
			sum += capacity;
	return sum;
}

/* What the strategy that decided last adds to the place in HAProxy's queue. */
static double added_offset_ms(const struct passage *passage, const struct decision *decision)
{
	const struct facts *facts = passage->decider->facts;
	const struct walk *walk = &passage->walks[decision->levels[1].walked ? 1 : 0];

	if (decision->outcome != OUTCOME_ROUTED || !walk->entry)
		return 0;
	switch (walk->entry->strategy->order) {
	case ORDER_ARRIVAL:
		return 0;
	case ORDER_DEADLINE:
		return deadline_offset_ms(walk);
	case ORDER_FAIR:
		return tenants_offset_ms(facts->tenants, passage->tenant,
		                         capacity_of(facts, decision->instance), passage->now);
	}
	return 0;
}

static void decide(struct passage *passage, struct decision *ret_decision)
{
	enum levels_mode levels = passage_policy(passage)->levels;

	*ret_decision = (struct decision){ .sequence = passage->decider->sequence + 1,
		                           .limit = LIMIT_NONE };
	ret_decision->base = passage->base;
	ret_decision->asked = passage->choice.asked;
	ret_decision->by_profile = passage->choice.by_profile;
	if (passage->choice.asked == ASKED_UNKNOWN &&
	    passage_policy(passage)->reject_unknown_strategy)
		verdict_unknown_strategy(ret_decision);
	else if (levels != LEVELS_INSTANCE && passage->request->backend.len > 0)
		decide_inside(passage, ret_decision);
	else if (levels != LEVELS_REPLICA)
		decide_both(passage, ret_decision);
	else
		verdict_nobody(REASON_NO_CANDIDATE, ret_decision);
	verdict_upstream(passage, ret_decision);
	verdict_session(passage, ret_decision);
	ret_decision->class_of = passage->place.class_of;
	queue_set(&passage_policy(passage)->queue, &passage->place,
	          added_offset_ms(passage, ret_decision), ret_decision);
}

/* Of the limits that were asked. */
static void tell_left(const struct passage *passage, struct decision *ret_decision)
{
	for (enum limit_kind unit = 0; passage->check.asked && unit < LIMIT_UNITS; unit++)
		ret_decision->left[unit] = limits_left(passage->decider->facts->limits,
		                                       &passage->check, unit, passage->now);
}

void decider_decide(struct decider *decider, const struct request *request, usec_t now,
                    struct decision *ret_decision)
{
	struct passage passage;
	struct reservation reservation;

	passage_enter(&passage, decider, request, now, false);
	decide(&passage, ret_decision);
	passage_latch(&passage);
	decider->rng = passage.rng;
	decider->sequence++;
	reservation = (struct reservation){ .request = request,
		                            .prompt = &decider->prompt,
		                            .model = passage.model,
		                            .adapter = passage.adapter,
		                            .tenant = passage.tenant,
		                            .check = &passage.check,
		                            .chosen = verdict_named(&passage, ret_decision),
		                            .now = now };
	if (ret_decision->prefill)
		reservation.prefill = ret_decision->levels[1].prefill;
	ret_decision->matched = reservation.chosen ? reservation.chosen->matched : 0;
	if (ret_decision->outcome == OUTCOME_ROUTED)
		reserve(decider->facts, &reservation, ret_decision);
	reserve_count(decider->facts, &reservation, ret_decision);
	tell_left(&passage, ret_decision);
}

void decider_explain(struct decider *decider, const struct request *request, usec_t now,
                     struct decision *ret_decision)
{
	struct passage passage;
	const struct candidate *chosen;

	passage_enter(&passage, decider, request, now, true);
	decide(&passage, ret_decision);
	chosen = verdict_named(&passage, ret_decision);
	ret_decision->matched = chosen ? chosen->matched : 0;
	tell_left(&passage, ret_decision);
}
