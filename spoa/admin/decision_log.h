/* decision_log.h - the last decisions, and what became of them.
 *
 * A ring of fixed size. Writing copies plain data, allocates nothing and formats
 * nothing; JSON is made only when somebody asks, or off the request path when
 * the records are streamed as lines. The end of a stream finds its decision by
 * HAProxy's unique-id as long as it is still in the ring.
 *
 * Prompts are never kept: sizes, and hashes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/route.h"
#include "policies/feedback.h"
#include "spoa/admin/stages.h"

struct json_t;
struct decision_log;

enum { DECISION_LOG_DEFAULT = 4096 };

/* capacity: records, 1..1048576; about 4 KB each. NULL when out of memory. */
MUST_CHECK struct decision_log *decision_log_new(uint32_t capacity);
void decision_log_free(struct decision_log *log);

/* Right after decider_decide(): what the decision points to is read, not kept.
 * cost: time the walk took. */
void decision_log_decided(struct decision_log *log, const struct request *request,
                          const struct decision *decision, usec_t now, usec_t cost);
void decision_log_first_byte(struct decision_log *log, const struct first_byte *event,
                             const struct feedback *feedback, usec_t now);
void decision_log_ended(struct decision_log *log, const struct stream_end *end,
                        const struct feedback *feedback, usec_t now);

/* Turns our points in time into dates, stages into names: what a text needs. */
struct decision_words {
	usec_t now;
	int64_t wall_ms; /* epoch, at now */
	struct stage_names stages;
	const struct ladder *ladder; /* of the hashes; NULL: no prefix hash is told */
};

/* The record of this unique-id as a new JSON object; NULL when there is none (or
 * no memory). With candidates. */
struct json_t *decision_log_find(const struct decision_log *log, struct span id,
                                 const struct decision_words *words);
/* What was asked with this unique-id, as far as the prompt goes: id, model, lengths
 * and hashes. Good until the next decision. False when there is none. */
MUST_CHECK bool decision_log_request(const struct decision_log *log, struct span id,
                                     struct request *ret_request);
/* A new JSON array of the last `most` records, newest first. */
struct json_t *decision_log_last(const struct decision_log *log, uint32_t most, bool candidates,
                                 const struct decision_words *words);

struct decision_log_counts {
	uint64_t decided, ended;
	uint64_t ended_unknown;  /* its decision is not in the ring */
	uint64_t lines, dropped; /* streamed; the reader was too slow for these */
	uint32_t records, capacity;
};
struct decision_log_counts decision_log_counts(const struct decision_log *log);

/* Stream records as JSON lines to fd (borrowed, non-blocking) from now on: one of
 * `every` decisions (1: all, 0: none, the default), and their ends. */
void decision_log_stream(struct decision_log *log, int fd, uint32_t every);
/* Write what is new, as far as the fd takes it. Call it from a timer, off the
 * request path, about every 20 ms (at most 64 lines, some 4 ms, a call); and once
 * before the end. Records that the ring
 * overwrote before they were written are counted as dropped. */
void decision_log_flush(struct decision_log *log, const struct decision_words *words);
