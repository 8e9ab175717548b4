/* trace.h - a recorded request trace: JSON lines with timestamp (ms), input_length
 * and output_length (tokens), and hash_ids (one per 512-token block of the prompt;
 * equal id = equal block, and equal prompt before it). */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TRACE_BLOCK_TOKENS = 512, TRACE_BLOCK_BYTES = 2048 };

struct trace_request {
	uint64_t at; /* us since the start */
	uint32_t input_tokens, output_tokens;
	uint32_t block_count; /* whole blocks and the partial last one */
	uint64_t *blocks;     /* ids, spread over 64 bits */
};

struct trace {
	struct trace_request *requests; /* by time */
	size_t count;
};

/* NULL, and said on stderr, when it cannot be read. jitter_us: equal timestamps are
 * spread over so much, by the seed. */
struct trace *trace_load(const char *path, uint64_t jitter_us, uint64_t seed);
void trace_free(struct trace *trace);
