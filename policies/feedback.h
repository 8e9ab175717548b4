/* feedback.h - the way back: first byte, end of stream, and what they teach.
 *
 * Slots are confirmed, moved to the server that really serves, and released,
 * each exactly once; averages, health and bindings learn from it. Any event may
 * come twice, late, or for a request we never decided. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/span.h"
#include "policies/state/facts.h"

/* Who served, by HAProxy's word. Empty spans: nobody, or not said. */
struct served {
	struct span backend, server;
	struct span address; /* "ip:port"; preferred over the server's name */
	uint32_t source;
};

struct first_byte {
	struct span id;
	struct served by;
	uint32_t status; /* 0 = not said */
};

/* One end-of-stream line, as spoa/observe/log_line reads it. */
struct stream_end {
	struct span id;
	struct served by;
	int status;          /* -1: none */
	char termination[4]; /* HAProxy's ts, without NUL: "----", "CD--", ... */
	uint32_t retries;
	bool redispatched;                 /* rc began with '+' */
	bool routed;                       /* it was a request that asks us (t0 is set) */
	bool applied;                      /* HAProxy held our answer (no err, instance set) */
	int64_t decided_ms, first_byte_ms; /* epoch ms by HAProxy's clock; 0 = not there */
	uint32_t retry_after;              /* the engine's; 0 = none */
	/* The first answer of 400 or more, also of a try that was made again; 0: none, or
	 * HAProxy does not tell. */
	int first_status;
	uint32_t first_retry_after;
	struct span first_server;
	int32_t queue_ms, connect_ms, response_ms, data_ms, total_ms; /* -1: never reached */
	uint64_t bytes_in, bytes_out;
	struct span instance, replica, action, reason; /* our answer as HAProxy held it */
};

/* What became of the event, for log and metrics; plain data. */
struct feedback {
	bool known; /* an open request of ours */
	bool duplicate;
	bool moved;      /* served by another than chosen */
	bool expired;    /* its slot had expired before */
	bool missed;     /* it does not know the model: its list is to be asked for */
	uint32_t target; /* that served; TARGET_NONE: nobody */
	uint32_t chosen;
	enum outcome_class class;
	enum termination termination;
	/* Address of who serves, if the client's session id must become another than that of
	 * the chosen one; NULL else. Good until the fleet changes. */
	const char *session_at;
	double ttft_ms, e2e_ms; /* negative: no sample; ttft also at the end, if it counts */
};

struct feedback feedback_first_byte(struct facts *facts, const struct first_byte *event,
                                    usec_t now);
struct feedback feedback_end(struct facts *facts, const struct stream_end *end, usec_t now);

/* Our answer left later than HAProxy waits for it: the stream went on without us. */
void feedback_late(struct facts *facts, struct span id, usec_t now);
/* This HAProxy process is gone, with all its streams. How many slots were released. */
uint32_t feedback_process_gone(struct facts *facts, uint32_t source, usec_t now);
/* What HAProxy counts for a target: its sessions and its queue, summed over all its
 * processes. COUNT_UNKNOWN also while requests wait in the backend for any server. */
#define COUNT_UNKNOWN UINT32_MAX

/* Releases what HAProxy does not have any more. It writes no end line when the engine
 * closes a connection before the headers of a client's later request (2.6) or on a
 * reused connection (3.0 to 3.2): "the client is required to retry". Of the requests
 * decided more than MISSING_AGE ago a target cannot have more than HAProxy counts; the
 * oldest beyond that, those without a first byte first, are missing, and what was
 * missing at MISSING_COUNTS counts in a row is released. A retry's pause of a second
 * is shorter than that.
 * counted and scratch: by target id, below targets; scratch is overwritten. How many
 * were released. */
enum { MISSING_COUNTS = 3 };
#define MISSING_AGE (500 * MSEC)
uint32_t feedback_missing(struct facts *facts, const uint32_t *counted, uint32_t *scratch,
                          uint32_t targets, usec_t now);

/* Forgets open requests that are one time to live old; call it every few seconds.
 * on_expired as in ledger_sweep. */
void feedback_sweep(struct facts *facts, usec_t now,
                    void (*on_expired)(void *data, uint32_t target, uint32_t slots), void *data);

/* Class of an end by its status, termination and retries (docs/strategies.md). Pure; for tests and
 * logs. */
enum outcome_class stream_class(const struct stream_end *end);
enum termination stream_termination(const struct stream_end *end);
