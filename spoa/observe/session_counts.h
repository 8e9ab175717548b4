/* session_counts.h - what the HAProxy processes count for each target, summed.
 *
 * The ledger is compared with a sum only when every source has counted anew since
 * the last comparison: a sum that lacks one of them would take its streams for
 * lost. */
#pragma once

#include "policies/state/facts.h"

struct session_counts;

struct session_count {
	uint32_t current, queued; /* of the server */
	uint32_t waiting;         /* in its backend, for any server */
};

/* sources: at most SOURCES_MAX. NULL when out of memory. */
MUST_CHECK struct session_counts *session_counts_new(uint32_t targets, uint32_t sources);
void session_counts_free(struct session_counts *counts);

/* A source counts anew: begin, add for each of its servers, and done. */
void session_counts_begin(struct session_counts *counts, uint32_t source);
void session_counts_add(struct session_counts *counts, uint32_t source, uint32_t target,
                        const struct session_count *seen);
void session_counts_done(struct session_counts *counts, uint32_t source);
/* It does not answer: its part of the sum is not known. */
void session_counts_lost(struct session_counts *counts, uint32_t source);
/* The target's id now means somebody else. */
void session_counts_forget(struct session_counts *counts, uint32_t target);

/* Into ledger and engines, if all have counted; else false, and nothing happens.
 * *ret_missing: slots released of requests that HAProxy does not have any more. */
bool session_counts_apply(struct session_counts *counts, struct facts *facts, usec_t now,
                          uint32_t *ret_missing);
