/* reserve.c - slots, the open request, the provisional binding, the counters.
 *
 * In the same loop turn as the choice, and before the answer is sent: a burst
 * never sees one snapshot twice. A request without an id, or whose end came
 * first, or for which the table has no room, is decided all the same, but takes
 * no slot, since nobody could ever release it. */
#include "policies/reserve.h"

#include "policies/charge.h"
#include "policies/lora.h"
#include "policies/prompt.h"
#include "policies/sessions.h"
#include "policies/stages/kv_pool.h"
#include "policies/strategies.h"
#include "policies/usage.h"

static uint32_t whole_tokens(double tokens)
{
	if (tokens <= 0)
		return 0;
	return tokens < (double)UINT32_MAX ? (uint32_t)(tokens + 0.5) : UINT32_MAX;
}

/* NULL when it takes no slot. */
static struct flight *open_flight(struct facts *facts, const struct reservation *reservation)
{
	struct span id = reservation->request->id;
	struct flight *flight = NULL;

	if (id.len == 0)
		return NULL;
	switch (inflight_open(facts->inflight, flight_id_of(id), reservation->now, &flight)) {
	case INFLIGHT_OK:
		return flight;
	case INFLIGHT_FULL:
		facts->counters->without_slot++;
		break;
	case INFLIGHT_ENDED:
		facts->counters->ended_before_decision++;
		break;
	case INFLIGHT_OPEN:
		break;
	}
	return NULL;
}

/* Of a pair: the prompt waits there, and HAProxy knows of it only at the other. */
static void take_prefill(struct facts *facts, const struct reservation *reservation,
                         struct flight *flight)
{
	uint32_t target = reservation->prefill->target->id;
	uint32_t tokens = whole_tokens(reservation->prefill->uncached_tokens);

	flight->pair = true;
	flight->prefill = target;
	flight->prefill_slot =
	        ledger_acquire_unseen(facts->ledger, target, tokens,
	                              whole_tokens(reservation->prompt->tokens), reservation->now);
	flight->prefill_trial = health_trial_begin(facts->health, target, reservation->now);
	engines_count_acquired(facts->engines, target, tokens);
}

static void take_replica(struct facts *facts, const struct reservation *reservation,
                         uint32_t prefill, uint32_t resident, struct flight *flight)
{
	uint32_t target = flight->chosen;

	flight->trial_at = target;
	flight->trial = health_trial_begin(facts->health, target, reservation->now);
	flight->on_trial = flight->trial != 0;
	if (!reservation->prefill) {
		flight->replica_slot =
		        ledger_acquire(facts->ledger, target, prefill, resident, reservation->now);
		engines_count_acquired(facts->engines, target, prefill);
		return;
	}
	/* It computes no prompt, and until it is asked to decode nothing waits there. */
	flight->replica_slot = ledger_acquire(facts->ledger, target, 0, resident, reservation->now);
	ledger_first_byte(facts->ledger, &flight->replica_slot, reservation->now);
	take_prefill(facts, reservation, flight);
}

static void take_slots(struct facts *facts, const struct reservation *reservation,
                       const struct decision *decision, struct flight *flight)
{
	const struct prompt *prompt = reservation->prompt;
	const struct candidate *computes =
	        reservation->prefill ? reservation->prefill : reservation->chosen;
	uint32_t prefill = whole_tokens(computes ? computes->uncached_tokens : prompt->tokens);
	uint32_t resident = whole_tokens(prompt->tokens + prompt->output_tokens);
	uint32_t instance = decision->instance->target->id;

	flight->instance = instance;
	flight->instance_slot =
	        ledger_acquire(facts->ledger, instance, prefill, resident, reservation->now);
	if (!decision->replica)
		return;
	flight->chosen = decision->replica->target->id;
	if (computes)
		flight->to_compute = (float)(computes->prefill_tokens + computes->uncached_tokens);
	take_replica(facts, reservation, prefill, resident, flight);
}

/* The chosen target is about to hold the prompt: a burst follows its first request. */
static void bind(struct facts *facts, const struct reservation *reservation, struct flight *flight)
{
	const struct ladder *ladder = &facts->policy->ladder;
	const struct prompt *prompt = reservation->prompt;
	const struct candidate *chosen = reservation->chosen;

	if (prompt->blocks == 0 || !chosen)
		return;
	flight->blocks = prompt->blocks;
	for (uint32_t i = 0; i < prompt->blocks; i++)
		flight->chain[i] = prompt->chain[i];
	flight->hit = chosen->hit;
	prefix_index_bind(facts->prefix, chosen->target->id, prompt->chain, prompt->blocks, ladder,
	                  reservation->now);
	flight->stored = chosen->replica && kv_pool_is_shared(facts, chosen->instance);
	if (flight->stored)
		prefix_index_bind(facts->prefix, flight->instance, prompt->chain, prompt->blocks,
		                  ladder, reservation->now);
	if (reservation->prefill)
		prefix_index_bind(facts->prefix, reservation->prefill->target->id, prompt->chain,
		                  prompt->blocks, ladder, reservation->now);
}

void reserve(struct facts *facts, const struct reservation *reservation,
             struct decision *ret_decision)
{
	struct flight *flight = open_flight(facts, reservation);

	ret_decision->instance->target->chosen = ret_decision->sequence;
	if (ret_decision->replica)
		ret_decision->replica->target->chosen = ret_decision->sequence;
	if (ret_decision->prefill)
		ret_decision->prefill->target->chosen = ret_decision->sequence;
	ret_decision->slot = flight != NULL;
	usage_charge(facts, reservation, flight);
	if (!flight)
		return;
	flight->source = reservation->request->source;
	flight->model = reservation->model;
	flight->prompt = prompt_key(reservation->request, reservation->prompt);
	flight->tenant = reservation->tenant;
	take_slots(facts, reservation, ret_decision, flight);
	charge_recent(facts, reservation, ret_decision);
	bind(facts, reservation, flight);
	if (reservation->adapter != 0)
		lora_reserve(facts, reservation, ret_decision, flight);
	sessions_reserve(facts, reservation, ret_decision, flight);
}

static void count_sessions(struct counters *counters, const struct decision *decision)
{
	const struct session_look *look = &decision->levels[1].session;

	if (look->result == SESSION_NONE)
		look = &decision->levels[0].session;
	counters->sessions[look->result]++;
	counters->sessions_spilled += look->spilled;
}

/* By who computes the prompt. */
static void count_prefix(const struct reservation *reservation, struct target_counters *instance)
{
	const struct candidate *computes =
	        reservation->prefill ? reservation->prefill : reservation->chosen;

	if (reservation->prompt->blocks == 0)
		instance->prefix_none++;
	else if (!computes || computes->matched == 0)
		instance->prefix_misses++;
	else if (computes->hit)
		instance->prefix_hits++;
	else
		instance->prefix_partial++;
	if (computes)
		instance->predicted_tokens +=
		        whole_tokens(reservation->prompt->tokens - computes->uncached_tokens);
}

static void count_level(struct facts *facts, const struct level_trace *trace, uint64_t *dropped)
{
	uint16_t before = (uint16_t)trace->count;

	if (!trace->walked)
		return;
	if (trace->degraded) {
		facts->counters->degraded++;
		facts->counters->degraded_by[strategy_row(trace->asked)]++;
	}
	for (size_t i = 0; i < WALK_STAGES_MAX; i++) {
		uint16_t stood = trace->stood[i];

		if (stood < before)
			dropped[i] += (uint64_t)(before - stood);
		if (stood == 0)
			break;
		before = stood;
	}
}

void reserve_count(struct facts *facts, const struct reservation *reservation,
                   const struct decision *decision)
{
	struct counters *counters = facts->counters;

	counters->decisions++;
	counters->asked[decision->asked]++;
	for (size_t i = 0; i < 2; i++)
		count_level(facts, &decision->levels[i], counters->dropped[i]);
	count_sessions(counters, decision);
	counters->fail_open += decision->reason == REASON_FAIL_OPEN;
	counters->panic += decision->reason == REASON_PANIC;
	counters->seeded += decision->reason == REASON_SEED;
	if (decision->outcome == OUTCOME_UNANSWERED)
		counters->unanswered[decision->reason]++;
	if (decision->outcome == OUTCOME_REJECTED)
		counters->rejected[decision->reason]++;
	if (decision->reason == REASON_LIMIT)
		counters->limited[decision->limit_of][decision->limit]++;
	if (decision->outcome != OUTCOME_ROUTED)
		return;
	counters->of[decision->instance->target->id].decisions[decision->reason]++;
	count_prefix(reservation, &counters->of[decision->instance->target->id]);
	if (decision->replica)
		counters->of[decision->replica->target->id].decisions[decision->reason]++;
	if (decision->prefill)
		counters->of[decision->prefill->target->id].decisions[decision->reason]++;
	if (decision->levels[1].walked && decision->levels[1].chosen < decision->levels[1].count)
		counters->pairs[decision->levels[1].pair] += decision->levels[1].strategy->pair;
}
