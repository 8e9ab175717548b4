/* state_fleet.c - instances and replicas as JSON. */
#include <string.h>

#include "policies/core/policy.h"
#include "spoa/admin/state.h"
#include "spoa/admin/text_json.h"

static json_t *models_of(const struct fleet *fleet, const struct instance *instance)
{
	json_t *list = json_array();

	for (uint32_t id = 1; id <= fleet_model_count(fleet); id++) {
		const char *name = fleet_model_name(fleet, id);
		const struct instance *const *serving;
		size_t count;

		if (!name)
			continue;
		serving = fleet_serving(fleet, id, &count);
		for (size_t i = 0; i < count; i++)
			if (serving[i] == instance)
				(void)json_array_append_new(list, name_json(name));
	}
	return list;
}

static const char *strategy_of(const struct sources *sources, const struct instance *instance)
{
	const struct instance_policy *policy =
	        instance->policy ? instance->policy : &sources->facts->policy->default_instance;

	return policy->chain_count > 0 && policy->chain[0].strategy
	               ? policy->chain[0].strategy->name
	               : "";
}

static uint64_t sum_of(const uint64_t *counts, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += counts[i];
	return sum;
}

static json_t *instance_json(const struct sources *sources, const struct instance *instance)
{
	const struct facts *facts = sources->facts;
	const struct target_counters *counters = &facts->counters->of[instance->target->id];
	struct instance_sums sums = instance_sums(sources, instance);
	struct work work = ledger_work(facts->ledger, instance->target->id, sources->now);

	return json_pack(
	        "{s:o, s:o, s:f, s:s, s:i, s:i, s:i, s:I, s:o, s:o, s:I, s:o, s:{s:I, s:I, s:I, "
	        "s:I}}",
	        "instance", name_json(instance->name), "models", models_of(facts->fleet, instance),
	        "weight", instance->weight, "strategy", strategy_of(sources, instance), "replicas",
	        (int)instance->replica_count, "ready", (int)sums.ready, "running",
	        (int)work.running, "tokens", (json_int_t)work.resident_tokens, "queued",
	        known_json(sums.queued), "saturation", known_json(sums.saturation), "decisions",
	        (json_int_t)sum_of(counters->decisions, REASON_COUNT), "answers",
	        state_answers_json(sources, instance->target->id), "prefix", "hit",
	        (json_int_t)counters->prefix_hits, "partial", (json_int_t)counters->prefix_partial,
	        "miss", (json_int_t)counters->prefix_misses, "none",
	        (json_int_t)counters->prefix_none);
}

json_t *state_instances(const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;
	json_t *list = json_array();

	for (size_t i = 0; i < fleet_instance_count(fleet); i++)
		(void)json_array_append_new(list,
		                            instance_json(sources, fleet_instance_at(fleet, i)));
	return json_pack("{s:o}", "instances", list);
}

static json_t *average_json(const struct average *average, usec_t now)
{
	double ms;

	return average_plain(average, now, &ms) ? json_real(ms / 1000) : json_null();
}

/* What it did: one more object, so that a pack stays readable. */
static json_t *served_json(const struct target_counters *counters)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "responses",
	                 (json_int_t)sum_of(counters->responses, 6), "errors",
	                 (json_int_t)counters->responses[5], "pin_overridden",
	                 (json_int_t)sum_of(counters->pin_overridden, PIN_CAUSES), "moved_here",
	                 (json_int_t)counters->moved, "decisions",
	                 (json_int_t)sum_of(counters->decisions, REASON_COUNT));
}

/* What it does of a request, and with whom. */
static void put_part(json_t *object, const struct replica *replica)
{
	if (replica->target->ranks > 0)
		(void)json_object_set_new(object, "rank", json_integer(replica->target->rank));
	(void)json_object_set_new(object, "role", json_string(role_names[replica->role]));
	if (replica->roleset != 0 && replica->policy)
		(void)json_object_set_new(object, "roleset", name_json(replica->policy->roleset));
}

static json_t *replica_json(const struct sources *sources, const struct instance *instance,
                            const struct replica *replica)
{
	const struct facts *facts = sources->facts;
	uint32_t id = replica->target->id;
	struct work work = ledger_work(facts->ledger, id, sources->now);
	struct latency *latency = averages_of(facts->averages, id);
	double queued = -1;
	json_t *object;

	(void)engines_queue(facts->engines, id, sources->now, 0, &queued);
	object = json_pack(
	        "{s:o, s:o, s:o, s:s, s:f, s:i, s:i, s:i, s:I, s:I, s:f, s:o, s:o, s:o,"
	        " s:f, s:i, s:o, s:o, s:o}",
	        "instance", name_json(instance->name), "replica",
	        name_json(replica_label(facts->fleet, instance, replica)), "address",
	        name_json(replica->target->label), "state",
	        replica_state_names[replica_state(sources, replica)], "weight", replica->weight,
	        "max_running", (int)replica->max_running, "running", (int)work.running, "awaiting",
	        (int)work.awaiting, "tokens", (json_int_t)work.resident_tokens, "prefill_tokens",
	        (json_int_t)work.prefill_tokens, "drift", ledger_drift(facts->ledger, id), "queued",
	        known_json(queued), "ttft_average_s", average_json(&latency->ttft_ms, sources->now),
	        "e2e_average_s", average_json(&latency->e2e_ms, sources->now), "failures",
	        health_failures(facts->health, id, sources->now), "prefix_records",
	        (int)prefix_index_held(facts->prefix, id), "served",
	        served_json(&facts->counters->of[id]), "engine", state_engine_json(sources, id),
	        "learnt", state_learnt_json(sources, instance, id));
	json_object_set_new(object, "peers_running",
	                    json_integer(peers_work(facts->peers, id).running));
	put_part(object, replica);
	return object;
}

json_t *state_replicas(const struct sources *sources, const char *instance)
{
	const struct fleet *fleet = sources->facts->fleet;
	json_t *list = json_array();

	for (size_t i = 0; i < fleet_instance_count(fleet); i++) {
		const struct instance *at = fleet_instance_at(fleet, i);

		if (instance && strcmp(instance, at->name) != 0)
			continue;
		for (uint32_t k = 0; k < at->replica_count; k++)
			(void)json_array_append_new(list,
			                            replica_json(sources, at, &at->replicas[k]));
	}
	return json_pack("{s:o}", "replicas", list);
}
