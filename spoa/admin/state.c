/* state.c - agent, HAProxy processes and prefix index as JSON. */
#include "spoa/admin/state.h"

#include <inttypes.h>
#include <stdio.h>

#include "spoa/admin/text_json.h"

#define AS_NAME(id, name) name,
static const char *const alarm_names[] = { AGENT_ALARMS(AS_NAME) };
#undef AS_NAME

static json_t *alarms(const struct agent_counters *agent)
{
	json_t *list = json_array();

	for (size_t i = 0; i < AGENT_ALARM_COUNT; i++)
		if (agent->alarms[i])
			(void)json_array_append_new(list, json_string(alarm_names[i]));
	return list;
}

static json_t *policy_summary(const struct agent_counters *agent)
{
	char hash[20] = "default";

	if (agent->policy_hash != 0)
		(void)snprintf(hash, sizeof(hash), "%016" PRIx64, agent->policy_hash);
	return json_pack("{s:o, s:s, s:I, s:I, s:I}", "path", name_json(agent->policy_path), "hash",
	                 hash, "loaded_ms", (json_int_t)agent->reloaded_ms, "reloads_ok",
	                 (json_int_t)agent->reloads_ok, "reloads_refused",
	                 (json_int_t)agent->reloads_refused);
}

static json_t *traffic_summary(const struct counters *counters)
{
	uint64_t unanswered = 0;
	uint64_t rejected = 0;

	for (size_t i = 0; i < REASON_COUNT; i++) {
		unanswered += counters->unanswered[i];
		rejected += counters->rejected[i];
	}
	return json_pack(
	        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "decisions",
	        (json_int_t)counters->decisions, "unanswered", (json_int_t)unanswered, "rejected",
	        (json_int_t)rejected, "fail_open", (json_int_t)counters->fail_open, "degraded",
	        (json_int_t)counters->degraded, "late_answers", (json_int_t)counters->late_answers,
	        "first_bytes", (json_int_t)counters->first_bytes, "ends",
	        (json_int_t)counters->ends, "adopted", (json_int_t)counters->adopted);
}

json_t *state_agent(const struct sources *sources)
{
	const struct agent_counters *agent = &sources->agent;
	const struct facts *facts = sources->facts;

	return json_pack(
	        "{s:o, s:o, s:b, s:I, s:f, s:o, s:o, s:o, s:{s:i, s:i}, s:{s:I, s:I, s:I}, s:I}",
	        "version", name_json(agent->version), "commit", name_json(agent->commit), "ready",
	        agent->ready, "started_ms", (json_int_t)agent->started_ms, "uptime_s",
	        (double)(sources->wall_ms - agent->started_ms) / 1000.0, "policy",
	        policy_summary(agent), "alarms", alarms(agent), "traffic",
	        traffic_summary(facts->counters), "inflight", "open",
	        (int)inflight_count(facts->inflight), "capacity",
	        (int)inflight_capacity(facts->inflight), "spop", "connections",
	        (json_int_t)agent->spop_connections, "accepted", (json_int_t)agent->spop_accepted,
	        "bad_arguments", (json_int_t)agent->spop_bad_arguments, "resident_bytes",
	        (json_int_t)sources->process.resident_bytes);
}

json_t *state_haproxy(const struct sources *sources)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < sources->agent.haproxy_count; i++) {
		const struct agent_haproxy *haproxy = &sources->agent.haproxy[i];

		(void)json_array_append_new(
		        list,
		        json_pack("{s:o, s:o, s:b, s:I, s:I, s:I, s:o}", "name",
		                  name_json(haproxy->name), "version", name_json(haproxy->version),
		                  "up", haproxy->up, "pid", (json_int_t)haproxy->pid, "reloads",
		                  (json_int_t)haproxy->reloads, "dropped_logs",
		                  (json_int_t)haproxy->dropped_logs, "age_s",
		                  known_json((double)haproxy->age_ms / 1000.0)));
	}
	return json_pack("{s:o}", "haproxy", list);
}

static json_t *holders(const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;
	json_t *list = json_array();

	for (uint32_t id = 0; id < fleet_targets_max(fleet); id++) {
		const struct target *target = fleet_target(fleet, id);
		uint32_t held = target ? prefix_index_held(sources->facts->prefix, id) : 0;

		if (held > 0)
			(void)json_array_append_new(list, json_pack("{s:o, s:i}", "holder",
			                                            name_json(target->label),
			                                            "records", (int)held));
	}
	return list;
}

json_t *state_prefix(const struct sources *sources)
{
	const struct prefix_index *index = sources->facts->prefix;
	struct prefix_counts counts = prefix_index_counts(index);

	return json_pack("{s:s, s:i, s:i, s:I, s:{s:I, s:I, s:I, s:I, s:I}, s:o}", "ladder",
	                 sources->facts->policy->ladder.id, "records", (int)counts.records,
	                 "capacity", (int)prefix_index_capacity(index), "bytes",
	                 (json_int_t)32 * prefix_index_capacity(index), "evicted", "budget",
	                 (json_int_t)counts.evicted_budget, "full", (json_int_t)counts.evicted_full,
	                 "ttl", (json_int_t)counts.evicted_expired, "error",
	                 (json_int_t)counts.evicted_failed, "gone",
	                 (json_int_t)counts.evicted_holder, "holders", holders(sources));
}
