/* decision_record.c - copies a decision, on the request path: no more than needed. */
#include "spoa/admin/decision_record.h"

#include <string.h>

#include "policies/core/policy.h"
#include "policies/state/counters.h"

static void keep(char *ret_text, size_t room, struct span text)
{
	size_t len = text.len < room ? text.len : room - 1;

	if (len > 0)
		memcpy(ret_text, text.at, len);
	ret_text[len] = '\0';
}

#define KEEP(field, text) keep(field, sizeof(field), text)

static struct span span_of(const char *text)
{
	return (struct span){ text, text ? strlen(text) : 0 };
}

static const char *name_of(const struct candidate *candidate, uint32_t source)
{
	if (!candidate->replica)
		return candidate->instance->name;
	if (source < SOURCES_MAX && candidate->replica->name[source][0] != '\0')
		return candidate->replica->name[source];
	return candidate->target->label;
}

/* NULL where all are alike. */
static const char *role_of(const struct candidate *candidate)
{
	return candidate->replica && candidate->instance->has_roles
	               ? role_names[candidate->replica->role]
	               : NULL;
}

static int rank_of(const struct replica *replica)
{
	return replica && replica->target->ranks > 0 ? replica->target->rank : -1;
}

static void keep_role(struct kept_candidate *kept, const struct candidate *candidate)
{
	const struct replica *replica = candidate->replica;

	kept->rank = rank_of(replica);
	kept->role = role_of(candidate);
	kept->roleset[0] = '\0';
	if (kept->role && replica->roleset != 0 && replica->policy)
		KEEP(kept->roleset, span_of(replica->policy->roleset));
}

static void keep_candidate(struct kept_candidate *kept, const struct candidate *candidate,
                           const struct request *request)
{
	const struct load *load = candidate->load;

	KEEP(kept->name, span_of(name_of(candidate, request->source)));
	kept->running = (float)candidate->running;
	kept->prefill_tokens = (float)candidate->prefill_tokens;
	kept->uncached_tokens = (float)candidate->uncached_tokens;
	kept->share = request->prompt_bytes > 0
	                      ? (float)candidate->matched / (float)request->prompt_bytes
	                      : 0;
	kept->score = (float)candidate->score;
	kept->pending = load ? (float)load->pending : -1;
	kept->ttft_ms = load ? (float)load->ttft_ms : -1;
	kept->e2e_ms = load ? (float)load->e2e_ms : -1;
	kept->kv_usage = load ? (float)load->kv_usage : -1;
	kept->matched = candidate->matched;
	kept->effective = (uint32_t)candidate->effective;
	kept->hit = candidate->hit;
	kept->dropped_by = candidate->dropped_by;
	keep_role(kept, candidate);
}

/* What the score was made of. */
static void keep_strategy(struct kept_level *level, const struct level_trace *trace)
{
	const struct weighing *weighings = trace->strategy ? trace->strategy->weighings : NULL;

	KEEP(level->strategy, span_of(trace->strategy ? trace->strategy->name : ""));
	KEEP(level->asked, span_of(trace->degraded && trace->asked ? trace->asked->name : ""));
	level->signal_count = 0;
	for (size_t i = 0; weighings && i < WEIGHINGS_MAX && weighings[i].signal; i++) {
		level->signals[level->signal_count] = weighings[i].signal;
		level->weights[level->signal_count++] = (float)weighings[i].weight;
	}
}

static void keep_session(struct kept_level *level, const struct level_trace *trace,
                         const struct request *request)
{
	level->session = trace->session.result;
	level->session_kept = trace->session.kept;
	level->session_spilled = trace->session.spilled;
	level->session_target[0] = '\0';
	for (size_t i = 0; i < trace->count && level->session != SESSION_NONE; i++)
		if (trace->pool[i].target->id == trace->session.target)
			KEEP(level->session_target,
			     span_of(name_of(&trace->pool[i], request->source)));
}

static void keep_next(struct kept_level *level, const struct candidate *candidate,
                      const struct request *request)
{
	keep_candidate(&level->candidates[level->kept++], candidate, request);
}

/* The chosen one first, then who computes the prompt for it. */
static void keep_chosen(struct kept_level *level, const struct level_trace *trace,
                        const struct request *request)
{
	level->chosen = level->prefill = UINT32_MAX;
	level->pair = NULL;
	if (trace->chosen >= trace->count)
		return;
	level->chosen = level->kept;
	keep_next(level, &trace->pool[trace->chosen], request);
	if (trace->strategy && trace->strategy->pair)
		level->pair = pair_kind_names[trace->pair];
	if (!trace->prefill)
		return;
	level->prefill = level->kept;
	keep_next(level, trace->prefill, request);
}

/* Then the pool in its order: those standing, the dropped. */
static void keep_level(struct kept_level *level, const struct level_trace *trace,
                       const struct request *request)
{
	level->walked = trace->walked;
	level->kept = 0;
	if (!trace->walked)
		return;
	level->degraded = trace->degraded;
	level->count = (uint32_t)trace->count;
	level->standing = (uint32_t)trace->standing;
	memcpy(level->stood, trace->stood, sizeof(level->stood));
	keep_strategy(level, trace);
	keep_session(level, trace, request);
	level->adapter = trace->adapter;
	keep_chosen(level, trace, request);
	for (size_t i = 0; i < trace->count && level->kept < KEPT_CANDIDATES; i++)
		if (i != trace->chosen && &trace->pool[i] != trace->prefill)
			keep_next(level, &trace->pool[i], request);
}

static void keep_request(struct decision_record *record, const struct request *request)
{
	KEEP(record->id, request->id);
	KEEP(record->method, request->method);
	KEEP(record->host, request->host);
	KEEP(record->path, request->path);
	KEEP(record->model, request->model);
	KEEP(record->tenant, request->tenant);
	KEEP(record->client_id, request->client_id);
	KEEP(record->asked_strategy, request->strategy);
	record->session = request->session.len > 0 ? flight_id_of(request->session).low : 0;
	record->has_prompt = request->has_prompt;
	record->prompt_bytes = request->prompt_bytes;
	record->body_total = request->body_total;
	record->source = request->source;
	record->retry_count = request->retry_count;
	record->hash_count = request->hash_count;
	memcpy(record->hashes, request->hashes, request->hash_count * sizeof(request->hashes[0]));
}

static const char *served_as(const struct replica *replica, uint32_t source)
{
	return source < SOURCES_MAX ? replica->name[source] : "";
}

void decision_record_fill(struct decision_record *record, const struct request *request,
                          const struct decision *decision, usec_t now)
{
	const struct replica *replica = decision->replica;

	keep_request(record, request);
	record->at = now;
	record->first_byte_at = 0;
	record->end.at = 0;
	KEEP(record->base, decision->base);
	record->outcome = decision->outcome;
	record->reason = decision->reason;
	record->status = decision->status;
	record->retry_after = decision->retry_after;
	record->matched = decision->matched;
	KEEP(record->class, span_of(decision->class_of ? decision->class_of->name : ""));
	record->priority = decision->priority;
	record->priority_offset_ms = decision->priority_offset_ms;
	record->limit = decision->limit;
	record->limit_of = decision->limit_of;
	record->slot = decision->slot;
	record->asked = decision->asked;
	record->by_profile = decision->by_profile;
	KEEP(record->instance, span_of(decision->instance ? decision->instance->name : ""));
	KEEP(record->replica, span_of(replica ? served_as(replica, request->source) : ""));
	KEEP(record->address, replica ? target_address(replica->target) : span_of(""));
	record->rank = rank_of(replica);
	KEEP(record->upstream, decision->upstream_model);
	replica = decision->prefill;
	KEEP(record->prefill, span_of(replica ? served_as(replica, request->source) : ""));
	KEEP(record->prefill_address, replica ? target_address(replica->target) : span_of(""));
	for (int i = 0; i < 2; i++)
		keep_level(&record->levels[i], &decision->levels[i], request);
}
