/* engine.h - what an engine's own metric page said, and when.
 *
 * Filled by spoa/observe/scraper; every value may be unknown (negative), and all
 * are too old after the policy's stale-after. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"
#include "policies/core/time.h"

/* ENGINE_FIELD(id, member): what a page may say. Negative: not on the page. Counters
 * only grow while the engine lives. */
#define ENGINE_FIELDS(ENGINE_FIELD)                                                                \
	ENGINE_FIELD(RUNNING, running)     /* requests */                                          \
	ENGINE_FIELD(WAITING, waiting)     /* requests */                                          \
	ENGINE_FIELD(KV_USAGE, kv_usage)   /* 0..1; the host's cache is added to the GPU's */      \
	ENGINE_FIELD(KV_TOKENS, kv_tokens) /* blocks x block size: size of the KV cache */         \
	ENGINE_FIELD(PROMPT_TOKENS, prompt_tokens)         /* counter */                           \
	ENGINE_FIELD(GENERATION_TOKENS, generation_tokens) /* counter */                           \
	ENGINE_FIELD(CACHE_QUERIES, cache_queries)         /* counter, tokens */                   \
	ENGINE_FIELD(CACHE_HITS, cache_hits)               /* counter, tokens */                   \
	ENGINE_FIELD(FINISHED, finished)           /* counter: requests, however they ended */     \
	ENGINE_FIELD(TOKEN_SECONDS, token_seconds) /* counter: time between two tokens, summed */  \
	ENGINE_FIELD(TOKEN_GAPS, token_gaps)       /* counter: how many such times */              \
	ENGINE_FIELD(UTILIZATION, utilization)     /* the engine's own figure, 1 = full */         \
	ENGINE_FIELD(SEQUENCES, max_sequences)     /* that may run at once */                      \
	ENGINE_FIELD(LORA_SLOTS, lora_slots)       /* adapters that may be loaded at once */       \
	ENGINE_FIELD(LORA_USED, lora_used)         /* of them */

#define AS_ENUM(id, member) ENGINE_##id,
enum engine_field { ENGINE_FIELDS(AS_ENUM) ENGINE_FIELD_COUNT };
#undef AS_ENUM

struct engine_page {
	usec_t at; /* when it was read; 0 = never */
#define AS_MEMBER(id, member) double member;
	ENGINE_FIELDS(AS_MEMBER)
#undef AS_MEMBER
	/* Our own counts for this target, as of the scrape. */
	uint64_t acquired, first_bytes;
	uint64_t acquired_tokens; /* that it did not hold when they were sent */
};

/* Nothing is known but when. */
struct engine_page engine_page_blank(usec_t at);

/* Adapters by the engine's own list; names are kept as lora_id(). */
enum { ENGINE_LORAS_MAX = 32 };

struct engine_loras {
	usec_t at; /* 0 = the engine names none */
	uint32_t active_count, waiting_count;
	uint64_t active[ENGINE_LORAS_MAX], waiting[ENGINE_LORAS_MAX];
};

uint64_t lora_id(struct span name);

struct engines;

/* NULL when out of memory. */
MUST_CHECK struct engines *engines_new(uint32_t targets);
void engines_free(struct engines *engines);
/* Replaces all fields: what is gone from the page becomes unknown. */
void engines_put(struct engines *engines, uint32_t target, const struct engine_page *page);
/* NULL when there is none, or it is older than max_age (0: any age will do). */
const struct engine_page *engines_page(const struct engines *engines, uint32_t target, usec_t now,
                                       usec_t max_age);
/* What kind of engine it is, "vllm"; NULL: not known. The text must outlive this. */
void engines_put_kind(struct engines *engines, uint32_t target, const char *kind);
const char *engines_kind(const struct engines *engines, uint32_t target);
/* NULL when the engine names none, or that is older than max_age. */
void engines_put_loras(struct engines *engines, uint32_t target, const struct engine_loras *loras);
const struct engine_loras *engines_loras(const struct engines *engines, uint32_t target, usec_t now,
                                         usec_t max_age);
/* HAProxy's queue for this server (qcur), by the runtime socket; unknown when older than max_age.
 */
void engines_put_queue(struct engines *engines, uint32_t target, uint32_t queued, usec_t now);
bool engines_queue(const struct engines *engines, uint32_t target, usec_t now, usec_t max_age,
                   double *ret_queued);
/* Requests sent to it and first bytes seen since start, so that a gauge can be put right
 * by what happened since it was read. tokens: of the prompt, that it does not hold. */
void engines_count_acquired(struct engines *engines, uint32_t target, uint32_t tokens);
void engines_count_first_byte(struct engines *engines, uint32_t target);
/* Sets acquired, acquired_tokens and first_bytes of the page as of now. */
void engines_counts(const struct engines *engines, uint32_t target, struct engine_page *page);

/* The engine's gauges as they are likely to be now. Unknown (false) where the page is
 * older than max_age, or does not say.
 * pending = max(0, waiting + acquired - first bytes, both since the page) + HAProxy's queue;
 * either of waiting and queue may be unknown, then it counts as none.
 * kv usage = gauge + tokens acquired since the page / size of the cache, at most 1. */
bool engines_pending(const struct engines *engines, uint32_t target, usec_t now, usec_t max_age,
                     double *ret_requests);
bool engines_kv_usage(const struct engines *engines, uint32_t target, usec_t now, usec_t max_age,
                      double *ret_ratio);
void engines_forget(struct engines *engines, uint32_t target);
