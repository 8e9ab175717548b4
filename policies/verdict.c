/* verdict.c - what the walks came to, as a decision: whom, why, or which refusal. */
#include "policies/verdict.h"

#include <math.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/stages/affinity.h"
#include "policies/stages/stages.h"

enum {
	RETRY_AFTER_MAX = 120, /* seconds; clients ignore more */
	STATUS_UNKNOWN_STRATEGY = 400,
	STATUS_OVER_LIMIT = 429,
	STATUS_UNKNOWN_MODEL = 404,
	STATUS_NO_ELIGIBLE = 503,
};

static enum reason reason_at(const struct walk *walk, const struct candidate *chosen)
{
	const struct session_look *session = &walk->session;

	if (walk->panic)
		return REASON_PANIC;
	if (session->kept)
		return REASON_SESSION;
	if (walk->seeding)
		return REASON_SEED;
	if (chosen->hit)
		return REASON_PREFIX;
	if (chosen->target->id == session->target && !session->spilled)
		return REASON_SESSION;
	if (walk->spilling || session->spilled)
		return REASON_SPILL;
	return walk->gated ? REASON_GATE : REASON_LOAD;
}

/* The replica's reason; where that is only load, what the instance adds to it. */
enum reason verdict_reason(const struct passage *passage, const struct decision *decision)
{
	enum reason reasons[2] = { REASON_LOAD, REASON_LOAD };

	for (size_t i = 0; i < 2; i++) {
		const struct level_trace *trace = &decision->levels[i];

		if (trace->walked && trace->chosen < trace->count)
			reasons[i] = reason_at(&passage->walks[i], &trace->pool[trace->chosen]);
	}
	if (decision->levels[1].walked &&
	    (reasons[1] != REASON_LOAD || reasons[0] == REASON_PREFIX))
		reasons[0] = reasons[1];
	if (decision->levels[1].walked && passage->walks[1].late)
		return REASON_LATE;
	/* Where there is nothing better to say. */
	return reasons[0] == REASON_LOAD && decision->asked == ASKED_UNKNOWN
	               ? REASON_UNKNOWN_STRATEGY
	               : reasons[0];
}

const struct candidate *verdict_chosen(const struct level_trace *trace)
{
	BUG_ON(trace->chosen >= trace->count);
	return &trace->pool[trace->chosen];
}

void verdict_replica(const struct passage *passage, struct decision *ret_decision)
{
	const struct candidate *chosen = verdict_chosen(&ret_decision->levels[1]);

	ret_decision->outcome = OUTCOME_ROUTED;
	ret_decision->reason = verdict_reason(passage, ret_decision);
	ret_decision->instance = chosen->instance;
	ret_decision->replica = chosen->replica;
	if (ret_decision->levels[1].prefill)
		ret_decision->prefill = ret_decision->levels[1].prefill->replica;
}

void verdict_instance(const struct instance *instance, enum reason reason,
                      struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_ROUTED;
	ret_decision->reason = reason;
	ret_decision->instance = instance;
}

void verdict_nobody(enum reason reason, struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_UNANSWERED;
	ret_decision->reason = reason;
}

/* For a client: at least one, rounded up. */
static uint32_t whole_seconds(double seconds, uint32_t most)
{
	seconds = ceil(seconds - 1e-9);
	return seconds < 1 ? 1 : seconds > most ? most : (uint32_t)seconds;
}

void verdict_overload(const struct passage *passage, struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_REJECTED;
	ret_decision->reason = passage->deadline ? REASON_DEADLINE : REASON_OVERLOAD;
	ret_decision->status = passage_policy(passage)->overload_status;
	ret_decision->retry_after = whole_seconds(passage->wait_s, RETRY_AFTER_MAX);
}

void verdict_unknown_strategy(struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_REJECTED;
	ret_decision->reason = REASON_UNKNOWN_STRATEGY;
	ret_decision->status = STATUS_UNKNOWN_STRATEGY;
}

/* A client that waits longer than most would learns that it has to. */
void verdict_limit(const struct passage *passage, struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_REJECTED;
	ret_decision->reason = REASON_LIMIT;
	ret_decision->status = STATUS_OVER_LIMIT;
	ret_decision->limit = passage->check.refused;
	ret_decision->limit_of = passage->check.of;
	ret_decision->retry_after = whole_seconds(passage->check.wait_s, INT32_MAX);
}

/* A strict rule of affinity stands, and nobody whom it allows can serve. */
void verdict_isolated(struct decision *ret_decision)
{
	ret_decision->outcome = OUTCOME_REJECTED;
	ret_decision->reason = REASON_NO_ELIGIBLE;
	ret_decision->status = STATUS_NO_ELIGIBLE;
}

void verdict_unanswered(const struct passage *passage, struct decision *ret_decision)
{
	const struct walk *walk = &passage->walks[0];
	bool unknown = passage->model == TARGET_NONE || walk->ended_by == &stage_role;

	verdict_nobody(unknown ? REASON_UNKNOWN_MODEL : REASON_NO_CANDIDATE, ret_decision);
	if (unknown && passage_policy(passage)->reject_unknown_model) {
		ret_decision->outcome = OUTCOME_REJECTED;
		ret_decision->status = STATUS_UNKNOWN_MODEL;
	} else if (affinity_is_strict(walk)) {
		verdict_isolated(ret_decision);
	}
}

/* Only a replica has an id, and only where sessions mean something is one given. */
void verdict_session(const struct passage *passage, struct decision *ret_decision)
{
	if (ret_decision->replica && ret_decision->levels[1].session.wanted)
		ret_decision->session = &passage_policy(passage)->session;
}

/* The model's name at the engines, where the policy gives another than the client's. */
void verdict_upstream(const struct passage *passage, struct decision *ret_decision)
{
	const struct instance *instance = ret_decision->instance;
	const char *name = passage->rule->upstream_model;
	struct span asked = passage->request->model;

	/* An adapter is called the same everywhere: the other name is its base's. */
	if (ret_decision->outcome != OUTCOME_ROUTED || !instance || passage->adapter != 0)
		return;
	if (instance->policy && instance->policy->upstream_model[0] != '\0')
		name = instance->policy->upstream_model;
	if (name[0] == '\0' ||
	    (asked.len == strlen(name) && memcmp(asked.at, name, asked.len) == 0))
		return;
	ret_decision->upstream_model = (struct span){ name, strlen(name) };
}

/* The candidate that was chosen for good, of the level that named it. */
const struct candidate *verdict_named(const struct passage *passage,
                                      const struct decision *decision)
{
	if (decision->outcome != OUTCOME_ROUTED)
		return NULL;
	if (decision->replica)
		return verdict_chosen(&decision->levels[1]);
	if (passage_policy(passage)->levels != LEVELS_INSTANCE ||
	    decision->reason == REASON_FALLBACK || decision->reason == REASON_FAIL_OPEN)
		return NULL;
	return verdict_chosen(&decision->levels[0]);
}
