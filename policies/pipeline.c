/* pipeline.c - the order of the stages, and the way from level 1 to level 2.
 *
 * An instance is chosen, then a replica in it. Where its replicas yield nobody
 * the next best instance is asked, a few times. What is left goes to the
 * fallback services; is refused, if the overload is certain; or goes in turn to
 * those who are configured: no fault of ours, of an engine's page or of a store
 * may become an outage. */
#include "policies/pipeline.h"

#include <math.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/decider.h"
#include "policies/ends.h"
#include "policies/level.h"
#include "policies/pickers/picker.h"
#include "policies/prompt.h"
#include "policies/reserve.h"
#include "policies/rules.h"
#include "policies/stages/affinity.h"
#include "policies/stages/stages.h"
#include "policies/strategies.h"

/* The route of every request. Rules first, protection next, preference last. */
static const struct stage *const route[] = {
	&stage_collect, &stage_role,      &stage_health,    &stage_affinity,
	&stage_measure, &stage_prefix,    &stage_admission, &stage_share,
	&stage_serving, &stage_imbalance, &stage_score,
};

_Static_assert(sizeof(route) / sizeof(route[0]) <= WALK_STAGES_MAX, "the trace is too short");

enum {
	INSTANCE_RETRIES = 2,
	RETRY_AFTER_MAX = 120, /* seconds; clients ignore more */
	STATUS_UNKNOWN_MODEL = 404,
	STATUS_NO_ELIGIBLE = 503,
};

/* One request on its way through both levels. */
struct passage {
	struct decider *decider;
	const struct request *request;
	usec_t now;
	bool dry; /* leave no trace: for explain */
	struct rng rng;
	uint32_t model;
	const struct rule *rule;
	struct walk walks[2];
	uint32_t banned[INSTANCE_RETRIES + 1]; /* instances whose replicas yielded nobody */
	size_t banned_count;
	bool overload; /* of all that were asked, certainly */
	double wait_s; /* until one of them may be below its limits; 0 = not known */
};

const struct stage *pipeline_stage(size_t i)
{
	return i < sizeof(route) / sizeof(route[0]) ? route[i] : NULL;
}

static const struct policy *policy_of(const struct passage *passage)
{
	return passage->decider->facts->policy;
}

static void enter(struct passage *passage, struct decider *decider, const struct request *request,
                  usec_t now, bool dry)
{
	const struct fleet *fleet = decider->facts->fleet;
	const char *name;
	struct span model = request->model;

	*passage = (struct passage){ .decider = decider,
		                     .request = request,
		                     .now = now,
		                     .dry = dry,
		                     .rng = decider->rng,
		                     .overload = true };
	passage->model = fleet_model_id(fleet, request->model);
	name = fleet_model_name(fleet, passage->model);
	if (name)
		model = (struct span){ name, strlen(name) };
	passage->rule = rule_for(decider->facts->policy, request, model);
	prompt_of(request, decider->facts->policy, model, &decider->prompt);
	decider_match(decider, now);
}

/* The chain as configured, or with the strategy that a header asks for. */
static struct chain chain_of(const struct passage *passage, int level,
                             const struct entry_policy *entries, uint32_t count)
{
	struct entry_policy *asked = passage->decider->asked[level - 1];
	const struct strategy *strategy = NULL;

	if (passage->request->strategy.len > 0 && !policy_of(passage)->lock_strategy)
		strategy = strategy_named_in(policy_of(passage), passage->request->strategy);
	if (!strategy)
		return (struct chain){ entries, count };
	for (uint32_t i = 0; i < count; i++) {
		asked[i] = entries[i];
		asked[i].strategy = strategy;
		options_reset(strategy->picker->options, asked[i].picker_settings);
	}
	return (struct chain){ asked, count };
}

static void begin(struct passage *passage, int level, struct walk *ret_walk)
{
	struct decider *decider = passage->decider;
	struct scratch *scratch = &decider->levels[level - 1];
	uint32_t source = passage->request->source;

	scratch->source = source < SOURCES_MAX ? (uint8_t)(1u << source) : 0;
	*ret_walk = (struct walk){ .request = passage->request,
		                   .prompt = &decider->prompt,
		                   .facts = decider->facts,
		                   .now = passage->now,
		                   .rng = &passage->rng,
		                   .pool = scratch->pool,
		                   .level = level,
		                   .model = passage->model,
		                   .rule = passage->rule,
		                   .scratch = scratch,
		                   .exact = passage->dry };
}

static bool has_limits(const struct limits *limits)
{
	return limits->running > 0 || limits->pending > 0 || limits->ttft_ms > 0 ||
	       limits->e2e_ms > 0 || limits->kv_usage > 0;
}

/* With one instance and nothing to hold it to, level 2 is all there is to decide. */
static bool only_one_will_do(const struct passage *passage, const struct chain *chain)
{
	if (passage->dry || policy_of(passage)->levels != LEVELS_BOTH)
		return false;
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct entry_policy *entry = &chain->entries[i];

		if (has_limits(&entry->admit) || has_limits(&entry->hard) || entry->min_score > 0)
			return false;
	}
	return true;
}

static enum walk_end finish_level(struct passage *passage, struct walk *walk, bool *latched,
                                  const struct chain *chain, struct level_trace *ret_trace)
{
	enum walk_end end;

	walk->latched = *latched;
	end = level_walk(walk, chain, ret_trace);
	if (passage->dry)
		return end;
	*latched = end == WALK_CHOSEN && walk->gated;
	passage->decider->facts->counters->chain_miss += end == WALK_EXHAUSTED;
	passage->decider->facts->counters->spilled += walk->spilling;
	return end;
}

static enum walk_end walk_instances(struct passage *passage, struct level_trace *ret_trace)
{
	struct decider *decider = passage->decider;
	const struct rule *rule = passage->rule;
	const struct policy *policy = policy_of(passage);
	struct chain chain = chain_of(passage, 1, rule->chain, rule->chain_count);
	size_t latch = rule == &policy->default_rule ? 0 : (size_t)(rule - policy->rules) + 1;

	latch = latch < RULES_LATCHED ? latch : RULES_LATCHED - 1;
	decider->levels[0].banned = passage->banned;
	decider->levels[0].banned_count = passage->banned_count;
	begin(passage, 1, &passage->walks[0]);
	passage->walks[0].only_one_will_do = only_one_will_do(passage, &chain);
	return finish_level(passage, &passage->walks[0],
	                    &decider->latched[decider->targets + latch], &chain, ret_trace);
}

static enum walk_end walk_replicas(struct passage *passage, const struct instance *instance,
                                   struct level_trace *ret_trace)
{
	const struct instance_policy *own =
	        instance->policy ? instance->policy : &policy_of(passage)->default_instance;
	struct chain chain = chain_of(passage, 2, own->chain, own->chain_count);

	begin(passage, 2, &passage->walks[1]);
	passage->walks[1].instance = instance;
	return finish_level(passage, &passage->walks[1],
	                    &passage->decider->latched[instance->target->id], &chain, ret_trace);
}

static enum reason reason_at(const struct walk *walk, const struct candidate *chosen)
{
	if (walk->panic)
		return REASON_PANIC;
	if (walk->seeding)
		return REASON_SEED;
	if (chosen->hit)
		return REASON_PREFIX;
	if (walk->spilling)
		return REASON_SPILL;
	return walk->gated ? REASON_GATE : REASON_LOAD;
}

/* The replica's reason; where that is only load, what the instance adds to it. */
static enum reason reason_of(const struct passage *passage, const struct decision *decision)
{
	enum reason reasons[2] = { REASON_LOAD, REASON_LOAD };

	for (size_t i = 0; i < 2; i++) {
		const struct level_trace *trace = &decision->levels[i];

		if (trace->walked && trace->chosen < trace->count)
			reasons[i] = reason_at(&passage->walks[i], &trace->pool[trace->chosen]);
	}
	if (!decision->levels[1].walked)
		return reasons[0];
	return reasons[1] == REASON_LOAD && reasons[0] != REASON_PREFIX ? reasons[0] : reasons[1];
}

static const struct candidate *chosen_of(const struct level_trace *trace)
{
	BUG_ON(trace->chosen >= trace->count);
	return &trace->pool[trace->chosen];
}

static void to_replica(const struct passage *passage, struct decision *ret_decision)
{
	const struct candidate *chosen = chosen_of(&ret_decision->levels[1]);

	ret_decision->outcome = OUTCOME_ROUTED;
	ret_decision->reason = reason_of(passage, ret_decision);
	ret_decision->instance = chosen->instance;
	ret_decision->replica = chosen->replica;
}

static void to_instance(const struct instance *instance, enum reason reason,
                        struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_ROUTED;
	ret_decision->reason = reason;
	ret_decision->instance = instance;
}

static void to_nobody(enum reason reason, struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_UNANSWERED;
	ret_decision->reason = reason;
}

static void refuse(const struct passage *passage, struct decision *ret_decision)
{
	double wait_s = ceil(passage->wait_s - 1e-9);

	ret_decision->outcome = OUTCOME_REJECTED;
	ret_decision->reason = REASON_OVERLOAD;
	ret_decision->status = policy_of(passage)->overload_status;
	ret_decision->retry_after = wait_s < 1                 ? 1
	                            : wait_s > RETRY_AFTER_MAX ? RETRY_AFTER_MAX
	                                                       : (uint32_t)wait_s;
}

/* One more that could not take it. */
static void note_failure(struct passage *passage, const struct walk *walk, enum walk_end end)
{
	if (end != WALK_EXHAUSTED || !walk->overload || !walk->hard) {
		passage->overload = false;
		return;
	}
	if (passage->wait_s <= 0 || walk->wait_s < passage->wait_s)
		passage->wait_s = walk->wait_s;
}

/* Nobody took the request: whoever reads the record wants all numbers of all
 * candidates, whether the strategy asked for them or not. */
static void read_all(struct walk *walk)
{
	walk->wants_load = true;
	stage_measure.run(walk);
}

/* HAProxy has chosen the instance. */
static void decide_inside(struct passage *passage, struct decision *ret_decision)
{
	const struct instance *instance =
	        fleet_instance_named(passage->decider->facts->fleet, passage->request->backend);
	enum walk_end end;

	if (!instance) {
		to_nobody(REASON_NO_CANDIDATE, ret_decision);
		return;
	}
	end = walk_replicas(passage, instance, &ret_decision->levels[1]);
	if (end == WALK_CHOSEN) {
		to_replica(passage, ret_decision);
		return;
	}
	read_all(&passage->walks[1]);
	note_failure(passage, &passage->walks[1], end);
	if (passage->overload && policy_of(passage)->reject_on_overload)
		refuse(passage, ret_decision);
	else
		to_instance(instance, end == WALK_NOBODY ? REASON_NO_CANDIDATE : REASON_FAIL_OPEN,
		            ret_decision);
}

/* A strict rule of affinity stands, and nobody whom it allows can serve. */
static void refuse_isolated(struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_REJECTED;
	ret_decision->reason = REASON_NO_ELIGIBLE;
	ret_decision->status = STATUS_NO_ELIGIBLE;
}

static void leave_unanswered(const struct passage *passage, struct decision *ret_decision)
{
	const struct walk *walk = &passage->walks[0];
	bool unknown = passage->model == TARGET_NONE || walk->ended_by == &stage_role;

	to_nobody(unknown ? REASON_UNKNOWN_MODEL : REASON_NO_CANDIDATE, ret_decision);
	if (unknown && policy_of(passage)->reject_unknown_model) {
		ret_decision->outcome = OUTCOME_REJECTED;
		ret_decision->status = STATUS_UNKNOWN_MODEL;
	} else if (affinity_is_strict(walk)) {
		refuse_isolated(ret_decision);
	}
}

/* No instance is left to try; end and walks[0] are those of the last walk over them. */
static void decide_at_the_end(struct passage *passage, enum walk_end end,
                              struct decision *ret_decision)
{
	const struct policy *policy = policy_of(passage);
	const struct walk *walk = &passage->walks[0];
	bool none = end == WALK_FALLBACK && walk->ended_by != &stage_health &&
	            walk->ended_by != &stage_affinity;
	const struct instance *instance;

	read_all(&passage->walks[0]);
	instance = ends_fallback(walk);
	if (instance) {
		if (policy->levels == LEVELS_BOTH &&
		    walk_replicas(passage, instance, &ret_decision->levels[1]) == WALK_CHOSEN)
			to_replica(passage, ret_decision);
		to_instance(instance, REASON_FALLBACK, ret_decision);
		return;
	}
	if (none && passage->banned_count == 0) {
		leave_unanswered(passage, ret_decision);
		return;
	}
	/* Where all were asked in vain the last walk found nobody: it adds nothing. */
	if (!none)
		note_failure(passage, walk, end);
	if (passage->overload && policy->reject_on_overload && ends_fallback_is_over(walk)) {
		refuse(passage, ret_decision);
		return;
	}
	instance = ends_in_turn(walk, passage->decider->turns);
	if (instance)
		to_instance(instance, REASON_FAIL_OPEN, ret_decision);
	else if (affinity_is_strict(walk))
		refuse_isolated(ret_decision);
	else
		to_nobody(REASON_NO_CANDIDATE, ret_decision);
}

static void decide_both(struct passage *passage, struct decision *ret_decision)
{
	bool both = policy_of(passage)->levels == LEVELS_BOTH;
	const struct instance *instance;
	enum walk_end end;

	for (;;) {
		end = walk_instances(passage, &ret_decision->levels[0]);
		if (end != WALK_CHOSEN || passage->banned_count > INSTANCE_RETRIES)
			break;
		instance = chosen_of(&ret_decision->levels[0])->instance;
		if (!both) {
			to_instance(instance, reason_of(passage, ret_decision), ret_decision);
			return;
		}
		end = walk_replicas(passage, instance, &ret_decision->levels[1]);
		if (end == WALK_CHOSEN) {
			to_replica(passage, ret_decision);
			return;
		}
		if (end == WALK_NOBODY) {
			to_instance(instance, reason_of(passage, ret_decision), ret_decision);
			return;
		}
		note_failure(passage, &passage->walks[1], end);
		passage->banned[passage->banned_count++] = instance->target->id;
	}
	decide_at_the_end(passage, end, ret_decision);
}

/* The model's name at the engines, where the policy gives another than the client's. */
static void name_upstream(const struct passage *passage, struct decision *ret_decision)
{
	const struct instance *instance = ret_decision->instance;
	const char *name = passage->rule->upstream_model;
	struct span asked = passage->request->model;

	if (ret_decision->outcome != OUTCOME_ROUTED || !instance)
		return;
	if (instance->policy && instance->policy->upstream_model[0] != '\0')
		name = instance->policy->upstream_model;
	if (name[0] == '\0' ||
	    (asked.len == strlen(name) && memcmp(asked.at, name, asked.len) == 0))
		return;
	ret_decision->upstream_model = (struct span){ name, strlen(name) };
}

static void decide(struct passage *passage, struct decision *ret_decision)
{
	enum levels_mode levels = policy_of(passage)->levels;

	*ret_decision = (struct decision){ .sequence = passage->decider->sequence + 1 };
	if (levels != LEVELS_INSTANCE && passage->request->backend.len > 0)
		decide_inside(passage, ret_decision);
	else if (levels != LEVELS_REPLICA)
		decide_both(passage, ret_decision);
	else
		to_nobody(REASON_NO_CANDIDATE, ret_decision);
	name_upstream(passage, ret_decision);
}

/* The candidate that was chosen for good, of the level that named it. */
static const struct candidate *named(const struct passage *passage, const struct decision *decision)
{
	if (decision->outcome != OUTCOME_ROUTED)
		return NULL;
	if (decision->replica)
		return chosen_of(&decision->levels[1]);
	if (policy_of(passage)->levels != LEVELS_INSTANCE || decision->reason == REASON_FALLBACK ||
	    decision->reason == REASON_FAIL_OPEN)
		return NULL;
	return chosen_of(&decision->levels[0]);
}

void decider_decide(struct decider *decider, const struct request *request, usec_t now,
                    struct decision *ret_decision)
{
	struct passage passage;
	struct reservation reservation;

	enter(&passage, decider, request, now, false);
	decide(&passage, ret_decision);
	decider->rng = passage.rng;
	decider->sequence++;
	reservation = (struct reservation){ .request = request,
		                            .prompt = &decider->prompt,
		                            .chosen = named(&passage, ret_decision),
		                            .now = now };
	ret_decision->matched = reservation.chosen ? reservation.chosen->matched : 0;
	if (ret_decision->outcome == OUTCOME_ROUTED)
		reserve(decider->facts, &reservation, ret_decision);
	reserve_count(decider->facts, &reservation, ret_decision);
}

void decider_explain(struct decider *decider, const struct request *request, usec_t now,
                     struct decision *ret_decision)
{
	struct passage passage;
	const struct candidate *chosen;

	enter(&passage, decider, request, now, true);
	decide(&passage, ret_decision);
	chosen = named(&passage, ret_decision);
	ret_decision->matched = chosen ? chosen->matched : 0;
}
