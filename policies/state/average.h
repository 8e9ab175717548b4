/* average.h - time-decayed averages that age.
 *
 * A sample counts for exp(-age/tau), so bursts average and lone samples replace.
 * An old value drifts towards the mean of the others, half way after 60 s, and
 * is unknown after 300 s: an idle target is not frozen at an old bad value. */
#pragma once

#include <stdbool.h>

#include "policies/core/error.h"
#include "policies/core/time.h"

struct average {
	double value;
	double weight; /* 0 = no sample yet */
	usec_t at;     /* of the last sample */
};

void average_add(struct average *average, double sample, usec_t tau, usec_t now);
/* count samples whose mean is given. */
void average_add_many(struct average *average, double mean, double count, usec_t tau, usec_t now);

/* A sample of an earlier time turns out to be none: as if it had not been added,
 * but for its date. Nothing when the average knows no such weight any more. */
void average_remove(struct average *average, double sample, usec_t tau, usec_t sampled_at);

/* What somebody else measured, where nothing is known here: as a lone sample that is too old to be
 * trusted, and that the first one of our own replaces. */
void average_hint(struct average *average, double value, usec_t now);

/* The plain value, without drift; false when unknown (no sample for 300 s). */
bool average_plain(const struct average *average, usec_t now, double *ret_value);
/* With drift towards others (negative: no others known). False when unknown. */
bool average_read(const struct average *average, double others, usec_t now, double *ret_value);
/* May cause a 429: the last sample is at most 60 s old. */
bool average_trusted(const struct average *average, usec_t now);

/* What feedback learns of each target, by target id. */
struct averages;
struct latency {
	struct average ttft_ms;
	struct average e2e_ms;
};

/* NULL when out of memory. */
MUST_CHECK struct averages *averages_new(uint32_t targets);
void averages_free(struct averages *averages);
struct latency *averages_of(struct averages *averages, uint32_t target);
void averages_forget(struct averages *averages, uint32_t target);
