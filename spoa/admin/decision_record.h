/* decision_record.h - one kept decision, plain data; for the files of the log only.
 *
 * Texts are cut to their room. Strategies belong to a policy that may be replaced,
 * so their names are copied; stages are constant, so pointers will do. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "policies/core/route.h"
#include "policies/core/strategy.h"
#include "policies/feedback.h"
#include "spoa/admin/decision_log.h"

enum {
	KEPT_CANDIDATES = 8,
	KEPT_NAME = 64,
	KEPT_ID = 96,
	KEPT_ROLESET = 24,
};

struct kept_candidate {
	char name[KEPT_NAME];
	float running, prefill_tokens, uncached_tokens, share, score;
	float pending, ttft_ms, e2e_ms, kv_usage; /* negative: not known, or not read */
	uint32_t matched, effective;
	bool hit;
	int rank;                   /* negative: its engine has none */
	const char *role;           /* NULL: the instance has none */
	char roleset[KEPT_ROLESET]; /* "" = the common one */
	const struct stage *dropped_by;
};

struct kept_level {
	bool walked, degraded;
	uint32_t count, standing;
	uint32_t kept;                              /* of the candidates */
	uint32_t chosen;                            /* index into them; UINT32_MAX = none */
	uint32_t prefill;                           /* the same, of who computes the prompt */
	const char *pair;                           /* NULL: no pairs are made */
	char strategy[KEPT_NAME], asked[KEPT_NAME]; /* that decided; that was to decide */
	uint32_t signal_count;
	const struct signal *signals[WEIGHINGS_MAX]; /* constant, as stages are */
	float weights[WEIGHINGS_MAX];
	enum session_result session; /* SESSION_NONE: nothing to say of it */
	bool session_kept, session_spilled;
	char session_target[KEPT_NAME]; /* "" = nobody who was a candidate */
	struct adapter_look adapter;
	uint16_t stood[WALK_STAGES_MAX];
	struct kept_candidate candidates[KEPT_CANDIDATES];
};

struct kept_end {
	usec_t at; /* 0 = not yet */
	char backend[KEPT_NAME], server[KEPT_NAME], address[KEPT_NAME];
	char termination[5];
	int status;
	uint32_t retries;
	bool moved, expired, known;
	double ttft_ms, e2e_ms;
	int32_t queue_ms;
	uint64_t bytes_in, bytes_out;
};

struct decision_record {
	uint64_t number; /* from 1; 0 = free */
	usec_t at, cost, first_byte_at;
	char id[KEPT_ID];
	char method[16], host[KEPT_NAME], path[KEPT_ID], model[KEPT_ID];
	char base[KEPT_NAME]; /* the model is a LoRA adapter of it; "" = of none */
	char tenant[KEPT_NAME], client_id[KEPT_NAME], asked_strategy[32];
	bool has_prompt;
	uint64_t session; /* hash; 0 = none */
	uint64_t prompt_bytes, body_total;
	uint32_t source, retry_count;
	uint32_t hash_count;
	uint64_t hashes[LADDER_BLOCKS_MAX];
	enum outcome outcome;
	enum reason reason;
	uint32_t status, retry_after, matched;
	char class[KEPT_NAME]; /* of the request */
	int32_t priority, priority_offset_ms;
	enum limit_kind limit; /* REASON_LIMIT */
	enum limit_of limit_of;
	bool slot;
	enum asked_strategy asked; /* by a header, for a strategy */
	bool by_profile;
	char instance[KEPT_NAME], replica[KEPT_NAME], address[KEPT_NAME], upstream[KEPT_ID];
	char prefill[KEPT_NAME], prefill_address[KEPT_NAME]; /* who computes the prompt */
	int rank;                                            /* of replica; negative: none */
	struct kept_level levels[2];
	struct kept_end end;
};

/* Copies what is worth keeping. All but number and cost. */
void decision_record_fill(struct decision_record *record, const struct request *request,
                          const struct decision *decision, usec_t now);

/* A new object; NULL without memory. */
json_t *decision_record_json(const struct decision_record *record, bool candidates,
                             const struct decision_words *words);
/* The line that tells of its end alone, joined by id. */
json_t *decision_record_end_json(const struct decision_record *record,
                                 const struct decision_words *words);
