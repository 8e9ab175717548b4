/* counters.h - what happened, counted where it happens and pulled when asked for.
 *
 * Plain numbers by target id; nothing registers, nothing is pushed. Names of the
 * published metrics are spoa/admin's business. */
#pragma once

#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/limit.h"
#include "policies/core/reason.h"
#include "policies/core/route.h"
#include "policies/core/strategy.h"
#include "policies/core/target.h"
#include "policies/state/health.h"

enum { HISTOGRAM_BOUNDS_MAX = 24 };

struct histogram {
	uint64_t counts[HISTOGRAM_BOUNDS_MAX + 1]; /* not cumulative; [bounds.count]: above all */
	double sum;
};

/* Ascending; le="..." of the exposition. Named tables, so that the page, the
 * docs and the counting agree. */
struct bounds {
	const double *at;
	uint32_t count;
};
extern const struct bounds bounds_ttft;     /* seconds, as vLLM's */
extern const struct bounds bounds_e2e;      /* seconds, as vLLM's */
extern const struct bounds bounds_decision; /* seconds */
extern const struct bounds bounds_ratio;    /* 0..1 */

void histogram_add(struct histogram *histogram, const struct bounds *bounds, double value);

enum termination {
	TERM_COMPLETE,
	TERM_CLIENT,
	TERM_SERVER,
	TERM_TIMEOUT,
	TERM_QUEUE,
	TERM_LOCAL,
	TERM_COUNT
};
enum pin_cause { PIN_REDISPATCH, PIN_MAXQUEUE, PIN_IGNORED, PIN_CAUSES };
enum release_source {
	RELEASED_LOG,
	RELEASED_LATE,
	RELEASED_PROCESS,
	RELEASED_TTL,
	RELEASED_SESSIONS,
	RELEASED_FIRST_BYTE, /* of a prefill replica: its prompt is computed */
	RELEASE_SOURCES
};

extern const char *const termination_names[TERM_COUNT];         /* complete client server ... */
extern const char *const pin_cause_names[PIN_CAUSES];           /* redispatch maxqueue ignored */
extern const char *const release_source_names[RELEASE_SOURCES]; /* log late process ... */

/* Why a session moved to another replica. */
enum session_move {
	SESSION_MOVE_GONE,    /* the one it was pinned to does not stand */
	SESSION_MOVE_SPILL,   /* ... was too busy */
	SESSION_MOVE_CHOICE,  /* the strategy had better reasons for another */
	SESSION_MOVE_HAPROXY, /* HAProxy went elsewhere than was chosen */
	SESSION_MOVES
};
extern const char *const session_move_names[SESSION_MOVES]; /* gone spill choice haproxy */

/* How a probe went. */
enum probe_result {
	PROBE_GOOD,
	PROBE_NO_PAGE, /* it answers, but not this question */
	PROBE_STATUS,
	PROBE_TIMEOUT,
	PROBE_REFUSED,
	PROBE_RESULTS
};
extern const char *const probe_result_names[PROBE_RESULTS]; /* ok no-page status ... */

/* What became of a decision of strategy pd. */
enum pair_kind {
	PAIR_REMOTE,   /* prefill here, decode there */
	PAIR_LOCAL,    /* the decode replica computes what little it lacks */
	PAIR_COMBINED, /* one replica for all of it */
	PAIR_ALONE,    /* nobody to prefill: the decode replica computes it all */
	PAIR_KINDS
};
extern const char *const pair_kind_names[PAIR_KINDS]; /* remote local combined alone */

struct target_counters {
	uint64_t decisions[REASON_COUNT];
	uint64_t responses[6]; /* 0: no status, 1..5: 1xx..5xx */
	uint64_t terminations[TERM_COUNT];
	uint64_t pin_overridden[PIN_CAUSES]; /* chosen was not served: charged to the chosen */
	uint64_t released[RELEASE_SOURCES];
	uint64_t moved; /* slots that moved here */
	struct histogram ttft, e2e, queue;
	uint64_t prefix_hits, prefix_partial, prefix_misses, prefix_none;     /* instances */
	uint64_t ejections[EJECT_CAUSE_COUNT], stalls, probes[PROBE_RESULTS]; /* replicas */
	uint64_t ejections_refused; /* instances: too many were out */
	uint64_t predicted_tokens;  /* of prompts, that we believe it had cached */
	uint64_t adapter_requests;  /* for LoRA adapters */
	uint64_t adapter_loads;     /* ... that were not there, by what we knew */
	uint64_t ttft_predictions;  /* replicas: first bytes that the learnt line told beforehand */
	double ttft_error;          /* sum of |predicted - real| / real of them */
};

struct counters {
	uint64_t decisions;
	uint64_t unanswered[REASON_COUNT];
	uint64_t rejected[REASON_COUNT];
	uint64_t limited[LIMIT_SUBJECTS][LIMIT_KINDS]; /* REASON_LIMIT, by whose and which */
	uint64_t without_slot;                         /* in-flight table full */
	uint64_t ended_before_decision;
	uint64_t late_answers;
	uint64_t first_bytes, first_bytes_unknown;
	uint64_t ends, ends_unknown, ends_duplicate;
	uint64_t adopted;
	uint64_t bad_contract;   /* v other than ours */
	uint64_t foreign_ladder; /* hashes ignored: another ladder id */
	uint64_t unknown_class;  /* a client's priority that is neither a class nor a number */
	uint64_t degraded;       /* a strategy lacked its data */
	/* The same by row of the table; [STRATEGY_ROWS_MAX]: by those that have no row. */
	uint64_t degraded_by[STRATEGY_ROWS_MAX + 1];
	uint64_t asked[ASKED_COUNT]; /* headers that asked for a strategy */
	uint64_t fail_open, panic, spilled, seeded, chain_miss;
	uint64_t sessions[SESSION_RESULT_COUNT]; /* requests, by how their session was found */
	uint64_t sessions_spilled;
	uint64_t session_moves[SESSION_MOVES];
	uint64_t dropped[2][24]; /* [level - 1][stage of the table] */
	uint64_t pairs[PAIR_KINDS];
	uint64_t adapters_spilled;   /* an adapter's replicas were all too busy */
	uint64_t adapters_uncounted; /* too many adapters to count the requests of this one */
	struct histogram decision_seconds;
	uint32_t targets;
	struct target_counters *of; /* by target id */
};

/* NULL when out of memory. */
MUST_CHECK struct counters *counters_new(uint32_t targets);
void counters_free(struct counters *counters);
void counters_forget(struct counters *counters, uint32_t target);
