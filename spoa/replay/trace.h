/* trace.h - recorded requests to play again: when they came, how long their prompts
 * were, and which blocks of them are equal.
 *
 * Read from a file of one of three kinds, told by its first line:
 * - a public trace: JSON lines with timestamp (ms), input_length and output_length
 *   (tokens) and hash_ids, one for each 512 tokens of the prompt; equal id = equal
 *   block and equal prompt before it (the format of the Mooncake traces);
 * - our own decisions (`inference-spoa run --log-decisions all`): JSON lines with the
 *   hashes that HAProxy sent;
 * - HAProxy's end-of-stream lines: no prompts are known, so nothing is ever cached.
 * Or made up, when there is no file (sample.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policies/core/error.h"
#include "policies/core/ladder.h"
#include "policies/core/time.h"

enum {
	TRACE_BLOCK_TOKENS = 512,
	TRACE_BLOCK_BYTES = 2048,
	TRACE_TOKENS_MAX = 1 << 24,         /* of one prompt or answer */
	TRACE_BYTES_PER_TOKEN = 4,          /* of a prompt */
	TRACE_STREAM_BYTES_PER_TOKEN = 200, /* of an answer: an event of its own for each */
};

struct trace_request {
	usec_t at;                            /* since the first */
	uint32_t input_tokens, output_tokens; /* at least 1 */
	uint64_t bytes;                       /* of the prompt */
	uint32_t block_count;                 /* of 512 tokens, whole ones */
	uint64_t *blocks;                     /* each stands for itself and all before it */
	uint32_t hash_count;                  /* of the ladder, as HAProxy would send them */
	uint64_t *hashes;
	uint32_t session; /* requests of one number belong together; 0 = not known */
};

struct trace {
	struct trace_request *requests; /* by time */
	size_t count;
	size_t room;
	size_t bad;          /* lines that could not be read */
	char first_bad[160]; /* where, and what was expected there */
	bool has_prompts;    /* hashes are known */
};

/* NULL with a reason when nothing in it can be read: "FILE:LINE: expected ...".
 * A line that cannot be read is counted, and the first one kept in words. */
MUST_CHECK struct trace *trace_load(const char *path, const struct ladder *ladder,
                                    struct error *error);
void trace_free(struct trace *trace);
/* Spreads every request over so much time after its own: for traces whose clock is
 * coarse. By the seed. */
void trace_spread(struct trace *trace, usec_t jitter, uint64_t seed);

/* No more than the first so many. */
void trace_keep(struct trace *trace, size_t count);

/* For whoever makes a trace: an empty one, and room for one more request with so many
 * blocks and hashes, zeroed; false when out of memory. */
MUST_CHECK struct trace *trace_new(void);
MUST_CHECK bool trace_add(struct trace *trace, uint32_t blocks, uint32_t hashes,
                          struct trace_request **ret_request);
/* By time, the first at 0. */
void trace_sort(struct trace *trace);
/* Of the blocks of 512 tokens: the hashes HAProxy would make of such a prompt. */
void trace_hash(struct trace_request *request, const struct ladder *ladder);
/* Of the ladder's hashes: the blocks of 512 tokens an engine would see. */
void trace_cut(struct trace_request *request, const struct ladder *ladder);
