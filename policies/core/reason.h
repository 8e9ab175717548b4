/* reason.h - why a decision came out as it did, in one word.
 *
 * REASON(id, name, help). The names go to HAProxy (txn.infer.reason), into logs
 * and into a metric's label: a closed set. */
#pragma once

#define REASONS(REASON)                                                                            \
	REASON(LOAD, "load", "the strategy chose, no prefix was held")                             \
	REASON(PREFIX, "prefix", "the chosen target holds a part of the prompt that counts")       \
	REASON(SEED, "seed", "a shared prompt was computed once more on an idle target")           \
	REASON(SPILL, "spill", "the holders of the prefix were over their limits")                 \
	REASON(SESSION, "session", "the session's target was kept")                                \
	REASON(GATE, "gate", "the load was too uneven, only the least loaded stood")               \
	REASON(LATE, "late", "no replica was pinned, HAProxy's queue decides")                     \
	REASON(FALLBACK, "fallback", "a fallback service was used")                                \
	REASON(FAIL_OPEN, "fail-open", "nobody was eligible, round robin decided")                 \
	REASON(PANIC, "panic", "all targets looked unhealthy, so health was ignored")              \
	REASON(OVERLOAD, "overload", "every candidate was over its limits by trusted numbers")     \
	REASON(DEADLINE, "deadline", "every candidate's queue is longer than the client waits")    \
	REASON(LIMIT, "limit", "the caller was over its own limit")                                \
	REASON(UNKNOWN_MODEL, "unknown-model", "no instance serves this model")                    \
	REASON(NO_ELIGIBLE, "no-eligible-instance", "a strict affinity rule left nobody")          \
	REASON(NO_CANDIDATE, "no-candidate", "no instance or replica is known")                    \
	REASON(UNKNOWN_STRATEGY, "unknown-strategy", "a header asked for a strategy there is not") \
	REASON(OBSERVE, "observe", "decided and logged, but not acted upon")

#define AS_ENUM(id, ...) REASON_##id,
enum reason { REASONS(AS_ENUM) REASON_COUNT };
#undef AS_ENUM

const char *reason_name(enum reason reason);
