/* recent.h - the cost of what was sent to each target lately, for signal preble.
 *
 * A decayed sum with tau = 180 s (a window of 3 minutes) of the seconds that each request was
 * expected to take: its uncached tokens at the prefill rate, its answer at the time per token.
 * Kept only while somebody asks: from a strategy that reads it until ten minutes after the
 * last, since everything that is sent must be charged. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"

struct recent;

/* NULL when out of memory. */
MUST_CHECK struct recent *recent_new(uint32_t targets);
void recent_free(struct recent *recent);
/* Somebody reads it: keep it. */
void recent_want(struct recent *recent, usec_t now);
bool recent_wanted(const struct recent *recent, usec_t now);
void recent_add(struct recent *recent, uint32_t target, double seconds, usec_t now);
/* Seconds, as of now. */
double recent_cost(const struct recent *recent, uint32_t target, usec_t now);
void recent_forget(struct recent *recent, uint32_t target);
