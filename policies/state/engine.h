/* engine.h - what an engine's own metric page said, and when.
 *
 * Filled by spoa/observe/scraper; every value may be unknown (negative), and all
 * are too old after the policy's stale-after. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"

struct engine_page {
	usec_t at;                               /* when it was read; 0 = never */
	double running;                          /* requests; -1 = not on the page */
	double waiting;                          /* requests */
	double kv_usage;                         /* 0..1 */
	double kv_tokens;                        /* blocks x block size: size of the KV cache */
	double prompt_tokens, generation_tokens; /* counters */
	double cache_queries, cache_hits;        /* counters, tokens */
	uint64_t acquired, first_bytes; /* our own counts for this target, as of the scrape */
};

struct engines;

/* NULL when out of memory. */
MUST_CHECK struct engines *engines_new(uint32_t targets);
void engines_free(struct engines *engines);
/* Replaces all fields: what is gone from the page becomes unknown. */
void engines_put(struct engines *engines, uint32_t target, const struct engine_page *page);
/* NULL when there is none, or it is older than max_age (0: any age will do). */
const struct engine_page *engines_page(const struct engines *engines, uint32_t target, usec_t now,
                                       usec_t max_age);
/* HAProxy's queue for this server (qcur), by the runtime socket; unknown when older than max_age.
 */
void engines_put_queue(struct engines *engines, uint32_t target, uint32_t queued, usec_t now);
bool engines_queue(const struct engines *engines, uint32_t target, usec_t now, usec_t max_age,
                   double *ret_queued);
/* Requests sent to it and first bytes seen since start: signal pending corrects
 * the engine's gauge by what happened since the scrape. */
void engines_count_acquired(struct engines *engines, uint32_t target);
void engines_count_first_byte(struct engines *engines, uint32_t target);
void engines_counts(const struct engines *engines, uint32_t target, uint64_t *ret_acquired,
                    uint64_t *ret_first_bytes);
void engines_forget(struct engines *engines, uint32_t target);
