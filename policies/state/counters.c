/* counters.c - the tables behind the numbers. */
#include "policies/state/counters.h"

#include <stdlib.h>

#include "policies/core/bug.h"

#define BOUNDS(array)                                                                              \
	{                                                                                          \
		array, sizeof(array) / sizeof((array)[0])                                          \
	}

static const double ttft[] = { 0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
	                       1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560 };
static const double e2e[] = { 0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
	                      30,  40,  50,  60, 120, 240, 480, 960, 1920, 7680 };
static const double decision[] = {
	5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2
};
static const double ratio[] = { 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 };

const struct bounds bounds_ttft = BOUNDS(ttft);
const struct bounds bounds_e2e = BOUNDS(e2e);
const struct bounds bounds_decision = BOUNDS(decision);
const struct bounds bounds_ratio = BOUNDS(ratio);

_Static_assert(sizeof(ttft) / sizeof(ttft[0]) <= HISTOGRAM_BOUNDS_MAX, "room for each bound");
_Static_assert(sizeof(e2e) / sizeof(e2e[0]) <= HISTOGRAM_BOUNDS_MAX, "room for each bound");

const char *const termination_names[TERM_COUNT] = { "complete", "client", "server",
	                                            "timeout",  "queue",  "local" };
const char *const pin_cause_names[PIN_CAUSES] = { "redispatch", "maxqueue", "ignored" };
const char *const session_move_names[SESSION_MOVES] = { "gone", "spill", "choice", "haproxy" };
const char *const release_source_names[RELEASE_SOURCES] = { "log", "late",     "process",
	                                                    "ttl", "sessions", "first-byte" };
const char *const pair_kind_names[PAIR_KINDS] = { "remote", "local", "combined", "alone" };
const char *const probe_result_names[PROBE_RESULTS] = { "ok", "no-page", "status", "timeout",
	                                                "refused" };

void histogram_add(struct histogram *histogram, const struct bounds *bounds, double value)
{
	uint32_t i = 0;

	while (i < bounds->count && value > bounds->at[i])
		i++;
	histogram->counts[i]++;
	histogram->sum += value;
}

struct counters *counters_new(uint32_t targets)
{
	struct counters *counters = calloc(1, sizeof(*counters));

	BUG_ON(targets == 0);
	if (!counters)
		return NULL;
	counters->targets = targets;
	counters->of = calloc(targets, sizeof(*counters->of));
	if (!counters->of) {
		counters_free(counters);
		return NULL;
	}
	return counters;
}

void counters_free(struct counters *counters)
{
	if (!counters)
		return;
	free(counters->of);
	free(counters);
}

void counters_forget(struct counters *counters, uint32_t target)
{
	BUG_ON(target >= counters->targets);
	counters->of[target] = (struct target_counters){ 0 };
}
