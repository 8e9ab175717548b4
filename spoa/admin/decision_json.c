/* decision_json.c - a kept decision as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "policies/strategies.h"
#include "spoa/admin/decision_record.h"
#include "spoa/admin/state.h"
#include "spoa/admin/text_json.h"

static void put(json_t *object, const char *name, json_t *value)
{
	(void)json_object_set_new(object, name, value);
}

static void put_count(json_t *object, const char *name, uint64_t count)
{
	put(object, name, json_integer((json_int_t)count));
}

/* Left away where nothing was said. */
static void put_text(json_t *object, const char *name, const char *text)
{
	if (text[0] != '\0')
		put(object, name, name_json(text));
}

/* null where there is no number. */
static void put_real(json_t *object, const char *name, double value)
{
	put(object, name, isfinite(value) ? json_real(value) : json_null());
}

static void put_hex(json_t *object, const char *name, uint64_t value)
{
	char text[20];

	(void)snprintf(text, sizeof(text), "%016" PRIx64, value);
	put(object, name, json_string(text));
}

/* Our clock is monotonic; the date is counted back from now. */
static void put_date(json_t *object, usec_t at, const struct decision_words *words)
{
	int64_t ms = words->wall_ms - (int64_t)((words->now - at) / MSEC);
	time_t seconds = (time_t)(ms / 1000);
	struct tm date;
	char day[32];
	char text[40];

	if (!gmtime_r(&seconds, &date) ||
	    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &date) == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s.%03dZ", day, (int)(ms % 1000));
	put(object, "ts", json_string(text));
}

/* null where a level chose before it looked at any number: not read is not zero. */
static void put_read(json_t *object, const char *name, double value, bool measured)
{
	put_real(object, name, measured ? value : (double)NAN);
}

static json_t *candidate_json(const struct kept_candidate *kept, bool measured,
                              const struct decision_words *words)
{
	json_t *object = json_object();

	put_text(object, "name", kept->name);
	if (kept->rank >= 0)
		put_count(object, "rank", (uint64_t)kept->rank);
	put_text(object, "role", kept->role ? kept->role : "");
	put_text(object, "roleset", kept->roleset);
	put_read(object, "running", (double)kept->running, measured);
	put_read(object, "prefill_tokens", (double)kept->prefill_tokens, measured);
	put_read(object, "uncached_tokens", (double)kept->uncached_tokens, measured);
	put_count(object, "matched", kept->matched);
	put_count(object, "effective", kept->effective);
	put_read(object, "share", (double)kept->share, measured);
	put(object, "hit", json_boolean(kept->hit));
	put(object, "pending", known_json((double)kept->pending));
	put(object, "ttft_ms", known_json((double)kept->ttft_ms));
	put(object, "e2e_ms", known_json((double)kept->e2e_ms));
	put(object, "kv_usage", known_json((double)kept->kv_usage));
	if (kept->dropped_by) {
		put_text(object, "dropped_by", words->stages.name(kept->dropped_by));
	} else {
		put_read(object, "score", (double)kept->score, measured);
	}
	return object;
}

/* A level that chose early did not come to its last stages: nobody fell there. */
static bool was_left_out(const struct kept_level *level, size_t stage)
{
	return level->stood[stage] == 0 && level->chosen != UINT32_MAX;
}

static bool was_measured(const struct kept_level *level, const struct decision_words *words)
{
	for (size_t i = 0; i < WALK_STAGES_MAX && words->stages.at(i); i++) {
		if (was_left_out(level, i))
			return false;
	}
	return true;
}

static json_t *candidates_json(const struct kept_level *level, const struct decision_words *words)
{
	json_t *list = json_array();
	bool measured = was_measured(level, words);

	for (uint32_t i = 0; i < level->kept; i++) {
		json_t *object = candidate_json(&level->candidates[i], measured, words);

		if (i == level->chosen)
			put(object, "chosen", json_true());
		if (i == level->prefill)
			put(object, "prefill", json_true());
		(void)json_array_append_new(list, object);
	}
	return list;
}

/* How many each stage dropped; stages that dropped nobody are left away. */
static json_t *dropped_json(const struct kept_level *level, const struct decision_words *words)
{
	json_t *object = json_object();
	uint32_t before = level->count;

	for (size_t i = 0; i < WALK_STAGES_MAX && words->stages.at(i); i++) {
		uint32_t stood = level->stood[i];

		if (was_left_out(level, i))
			break;
		if (stood < before)
			put_count(object, words->stages.name(words->stages.at(i)), before - stood);
		if (stood == 0)
			break;
		before = stood;
	}
	return object;
}

/* How many stood after each stage, until nobody did. */
static json_t *stages_json(const struct kept_level *level, const struct decision_words *words)
{
	json_t *list = json_array();

	for (size_t i = 0; i < WALK_STAGES_MAX && words->stages.at(i); i++) {
		if (was_left_out(level, i))
			break;
		(void)json_array_append_new(list, json_pack("{s:s s:i}", "stage",
		                                            words->stages.name(words->stages.at(i)),
		                                            "stood", (int)level->stood[i]));
		if (level->stood[i] == 0)
			break;
	}
	return list;
}

/* Shares of the score, by signal: what the strategy's name alone does not say. */
static json_t *blend_json(const struct kept_level *level)
{
	json_t *object = json_object();
	float sum = 0;

	for (uint32_t i = 0; i < level->signal_count; i++)
		sum += level->weights[i];
	for (uint32_t i = 0; i < level->signal_count; i++) {
		const char *name = strategy_signal_name(level->signals[i]);
		json_t *before = json_object_get(object, name);
		double share = (double)(level->weights[i] / sum) + json_number_value(before);

		put(object, name, json_real(share));
	}
	return object;
}

/* How its target was found, and whether it was kept. */
static json_t *session_json(const struct kept_level *level)
{
	json_t *object = json_object();

	put(object, "found", json_string(session_result_name(level->session)));
	put_text(object, "target", level->session_target);
	put(object, "kept", json_boolean(level->session_kept));
	put(object, "spilled", json_boolean(level->session_spilled));
	return object;
}

/* Over how many replicas it should be spread, and whether they would do. */
static json_t *adapter_json(const struct adapter_look *adapter)
{
	return json_pack("{s:f s:i s:b s:b}", "heat", adapter->heat, "wanted", (int)adapter->wanted,
	                 "narrowed", adapter->narrowed, "spilled", adapter->spilled);
}

static json_t *level_json(const struct kept_level *level, int number, bool candidates,
                          const struct decision_words *words)
{
	json_t *object = json_object();

	put(object, "level", json_string(number == 0 ? "instance" : "replica"));
	put_text(object, "strategy", level->strategy);
	if (strcmp(level->asked, level->strategy) != 0)
		put_text(object, "instead_of", level->asked);
	put(object, "effective", blend_json(level));
	put_text(object, "pair", level->pair ? level->pair : "");
	put(object, "degraded", json_boolean(level->degraded));
	put_count(object, "count", level->count);
	put_count(object, "standing", level->standing);
	put(object, "dropped", dropped_json(level, words));
	if (level->session != SESSION_NONE)
		put(object, "session", session_json(level));
	if (level->adapter.wanted > 0)
		put(object, "adapter", adapter_json(&level->adapter));
	if (!candidates)
		return object;
	put(object, "stages", stages_json(level, words));
	put(object, "candidates", candidates_json(level, words));
	return object;
}

/* All that were sent: what replay needs to tell equal prompts. */
static void put_hashes(json_t *object, const struct decision_record *record)
{
	json_t *list = json_array();
	char text[20];

	for (uint32_t i = 0; i < record->hash_count; i++) {
		(void)snprintf(text, sizeof(text), "%016" PRIx64, record->hashes[i]);
		(void)json_array_append_new(list, json_string(text));
	}
	put(object, "hashes", list);
}

static void put_request(json_t *object, const struct decision_record *record)
{
	put_text(object, "id", record->id);
	put_count(object, "haproxy", record->source);
	put_text(object, "method", record->method);
	put_text(object, "host", record->host);
	put_text(object, "path", record->path);
	put_text(object, "model", record->model);
	put_text(object, "adapter_of", record->base);
	put_text(object, "tenant", record->tenant);
	put_text(object, "client_id", record->client_id);
	put_text(object, "asked_strategy", record->asked_strategy);
	if (record->session != 0)
		put_hex(object, "session", record->session);
	if (record->has_prompt)
		put_count(object, "plen", record->prompt_bytes);
	put_count(object, "total", record->body_total);
	put_count(object, "blocks", record->hash_count);
	if (record->hash_count > 0)
		put_hashes(object, record);
	if (record->retry_count > 0)
		put_count(object, "retry", record->retry_count);
}

/* The block that what was matched ends with: as HAProxy hashed it. */
static void put_prefix_hash(json_t *object, const struct decision_record *record,
                            const struct ladder *ladder)
{
	for (uint32_t i = 0; ladder && i < record->hash_count && i < ladder->count; i++)
		if (record->matched > 0 && ladder_reach(ladder, i + 1) == record->matched)
			put_hex(object, "prefix_hash", record->hashes[i]);
}

static void put_choice(json_t *object, const struct decision_record *record)
{
	static const char *const words[ASKED_COUNT] = {
		[ASKED_TAKEN] = "header", [ASKED_LOCKED] = "locked", [ASKED_UNKNOWN] = "unknown"
	};

	if (words[record->asked])
		put(object, "asked", json_string(words[record->asked]));
	if (record->by_profile)
		put(object, "by_profile", json_true());
}

static const char *action_of(const struct decision_record *record)
{
	if (record->reason == REASON_OBSERVE)
		return "observe";
	if (record->outcome == OUTCOME_REJECTED)
		return "reject";
	return record->outcome == OUTCOME_ROUTED ? "route" : "default";
}

/* "tenant requests": whose limit of what refused it. */
static void put_limit(json_t *object, const struct decision_record *record)
{
	char text[48];

	if (record->reason != REASON_LIMIT)
		return;
	(void)snprintf(text, sizeof(text), "%s %s", limit_of_names[record->limit_of],
	               limit_kind_names[record->limit]);
	put_text(object, "limit", text);
}

/* Where HAProxy's queue puts it. */
static void put_queue(json_t *object, const struct decision_record *record)
{
	put_text(object, "class", record->class);
	if (record->priority != 0)
		put(object, "priority", json_integer(record->priority));
	if (record->priority_offset_ms != 0)
		put(object, "priority_offset_ms", json_integer(record->priority_offset_ms));
}

static void put_decision(json_t *object, const struct decision_record *record,
                         const struct decision_words *words)
{
	put(object, "action", json_string(action_of(record)));
	put(object, "reason", json_string(reason_name(record->reason)));
	put_choice(object, record);
	put(object, "fallback", json_boolean(record->reason == REASON_FALLBACK));
	put_text(object, "instance", record->instance);
	put_text(object, "replica", record->replica);
	put_text(object, "addr", record->address);
	if (record->rank >= 0)
		put_count(object, "rank", (uint64_t)record->rank);
	put_text(object, "prefill", record->prefill);
	put_text(object, "prefill_addr", record->prefill_address);
	put_text(object, "upstream_model", record->upstream);
	put_count(object, "matched", record->matched);
	put_prefix_hash(object, record, words->ladder);
	put(object, "slot", json_boolean(record->slot));
	put_queue(object, record);
	if (record->outcome == OUTCOME_REJECTED) {
		put_count(object, "status", record->status);
		put_count(object, "retry_after", record->retry_after);
		put_limit(object, record);
	}
	put_count(object, "decide_us", record->cost);
}

static json_t *end_json(const struct kept_end *end)
{
	json_t *object = json_object();

	put_text(object, "backend", end->backend);
	put_text(object, "served", end->server);
	put_text(object, "addr", end->address);
	put(object, "moved", json_boolean(end->moved));
	put(object, "status", end->status < 0 ? json_null() : json_integer(end->status));
	put_text(object, "term", end->termination);
	put(object, "ttft_ms", known_json(end->ttft_ms));
	put(object, "e2e_ms", known_json(end->e2e_ms));
	put(object, "queue_ms", end->queue_ms < 0 ? json_null() : json_integer(end->queue_ms));
	put_count(object, "bytes_in", end->bytes_in);
	put_count(object, "bytes", end->bytes_out);
	put_count(object, "retries", end->retries);
	if (end->expired)
		put(object, "slot_expired", json_true());
	return object;
}

json_t *decision_record_json(const struct decision_record *record, bool candidates,
                             const struct decision_words *words)
{
	json_t *object = json_object();
	json_t *levels = json_array();

	put_date(object, record->at, words);
	put_request(object, record);
	put_decision(object, record, words);
	for (int i = 0; i < 2; i++)
		if (record->levels[i].walked)
			(void)json_array_append_new(
			        levels, level_json(&record->levels[i], i, candidates, words));
	put(object, "levels", levels);
	if (record->first_byte_at > 0)
		put_real(object, "first_byte_ms",
		         (double)(record->first_byte_at - record->at) / 1000.0);
	if (record->end.at > 0)
		put(object, "end", end_json(&record->end));
	return object;
}

json_t *decision_record_end_json(const struct decision_record *record,
                                 const struct decision_words *words)
{
	json_t *object = json_object();

	put_date(object, record->end.at, words);
	put_text(object, "id", record->id);
	put(object, "end", end_json(&record->end));
	return object;
}
