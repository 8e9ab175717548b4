/* agent_counters.h - what the agent alone knows, handed to the admin pages.
 *
 * Plain numbers, filled by the agent's callback each time a page is asked for.
 * It comes zeroed: what this build does not count may stay 0. Texts are borrowed
 * and must be good until the next fill; NULL reads as "". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/target.h"
#include "policies/state/counters.h"

/* AGENT_FRAME(id, name): the label type of spop_frames_total. */
#define AGENT_FRAMES(AGENT_FRAME)                                                                  \
	AGENT_FRAME(HELLO, "hello")                                                                \
	AGENT_FRAME(NOTIFY, "notify")                                                              \
	AGENT_FRAME(ACK, "ack")                                                                    \
	AGENT_FRAME(DISCONNECT, "disconnect")

/* AGENT_SCRAPE(id, name): how asking an engine for its page went. */
#define AGENT_SCRAPES(AGENT_SCRAPE)                                                                \
	AGENT_SCRAPE(OK, "ok")                                                                     \
	AGENT_SCRAPE(REFUSED, "refused")                                                           \
	AGENT_SCRAPE(TIMEOUT, "timeout")                                                           \
	AGENT_SCRAPE(STATUS, "status")                                                             \
	AGENT_SCRAPE(BAD, "bad")

/* AGENT_ALARM(id, name): what an operator must know of. */
#define AGENT_ALARMS(AGENT_ALARM)                                                                  \
	AGENT_ALARM(POLICY, "policy-refused")                                                      \
	AGENT_ALARM(HAPROXY, "haproxy-unreachable")                                                \
	AGENT_ALARM(LOG, "log-lines-missing")

/* AGENT_CHECK(id, name): what became of HAProxy's agent-checks. */
#define AGENT_CHECKS(AGENT_CHECK)                                                                  \
	AGENT_CHECK(ANSWERED, "ok")                                                                \
	AGENT_CHECK(DRAINED, "drain")                                                              \
	AGENT_CHECK(UNKNOWN, "unknown")                                                            \
	AGENT_CHECK(DROPPED, "dropped")                                                            \
	AGENT_CHECK(REFUSED, "refused")

#define AS_CHECK(id, ...)  AGENT_CHECK_##id,
#define AS_FRAME(id, ...)  AGENT_FRAME_##id,
#define AS_SCRAPE(id, ...) AGENT_SCRAPE_##id,
#define AS_ALARM(id, ...)  AGENT_ALARM_##id,
enum agent_frame { AGENT_FRAMES(AS_FRAME) AGENT_FRAME_COUNT };
enum agent_scrape { AGENT_SCRAPES(AS_SCRAPE) AGENT_SCRAPE_COUNT };
enum agent_alarm { AGENT_ALARMS(AS_ALARM) AGENT_ALARM_COUNT };
enum agent_check_result { AGENT_CHECKS(AS_CHECK) AGENT_CHECK_COUNT };
#undef AS_CHECK
#undef AS_FRAME
#undef AS_SCRAPE
#undef AS_ALARM

enum { AGENT_SPOP_CODES = 100 }; /* error codes of SPOP are below this */

/* One HAProxy process, by its runtime socket. */
struct agent_haproxy {
	const char *name;    /* as configured: the socket */
	const char *version; /* as it says; "" not known */
	bool up;             /* it answers */
	uint64_t pid;
	uint64_t reloads;      /* its pid changed */
	uint64_t dropped_logs; /* DroppedLogs of "show info" */
	int64_t age_ms;        /* of its last answer; -1 = never */
};

struct agent_counters {
	const char *version, *commit, *libraries;
	const char *policy_path; /* "" = embedded default */
	uint64_t policy_hash;    /* of its text; 0 = embedded default */
	int64_t started_ms;      /* epoch */
	bool ready;              /* listening, and a policy is loaded */

	uint64_t reloads_ok, reloads_refused;
	int64_t reloaded_ms; /* epoch of the last good load */
	bool alarms[AGENT_ALARM_COUNT];

	struct histogram loop_lag; /* bounds_loop_lag */
	uint64_t loop_stalls;      /* turns late by more than 100 ms */

	uint64_t spop_connections; /* open now */
	uint64_t spop_accepted, spop_checks, spop_refused;
	uint64_t spop_frames[AGENT_FRAME_COUNT];
	uint64_t spop_errors[AGENT_SPOP_CODES]; /* DISCONNECTs sent and got, by code */
	uint64_t spop_bad_arguments;

	uint64_t log_ok, log_bad, log_foreign, log_cut; /* lines; cut at a reconnect */
	uint64_t log_lost;                              /* dropped by the kernel, as it says */

	struct agent_haproxy haproxy[SOURCES_MAX];
	uint32_t haproxy_count;

	uint64_t scrapes[AGENT_SCRAPE_COUNT];

	uint64_t checks[AGENT_CHECK_COUNT];
	/* Percent that HAProxy was told last, by target id; 0: nothing, or to drain. NULL:
	 * there is nobody to tell it. */
	uint32_t (*check_weight)(const void *weights, uint32_t target);
	const void *check_weights;
};

/* Seconds, 1 ms to 1 s. */
extern const struct bounds bounds_loop_lag;
