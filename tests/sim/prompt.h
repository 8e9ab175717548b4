/* prompt.h - what an engine reads of a request body, and its prompt as blocks of a prefix cache.
 *
 * Only the outer object is read; values of no interest are stepped over. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/span.h"

struct prompt {
	struct span
	        model;    /* as it stands in the JSON, without the quotes; at is NULL without one */
	struct span text; /* of "messages", "prompt" or "input", whichever is first, as it stands,
	                   * without the outer quotes or brackets */
	bool stream, include_usage;
	int64_t max_tokens, min_tokens; /* -1: not said */
};

/* False when the body is no JSON object. */
bool prompt_read(struct span body, struct prompt *ret_prompt);

/* Bytes by four, at least one. */
uint32_t prompt_tokens(struct span text);

/* The hash of each full block and all before it. Room for len / (4 * block_tokens) of them. */
uint32_t prompt_blocks(struct span text, uint32_t block_tokens, uint64_t *ret_blocks);
