/* ladder.h - into which blocks HAProxy cuts a prompt before it hashes them.
 *
 * Written as "4x1k,12x4k,8x8k,8x32k": four blocks of 1024 bytes, then twelve of
 * 4096, and so on, each beginning where the one before ends. The text is the
 * ladder's id: it goes over the wire and into the key of every binding, so two
 * ladders never share a hash by accident. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"

enum {
	LADDER_BLOCKS_MAX = 64,
	LADDER_TEXT_MAX = 64,
};

#define LADDER_DEFAULT "4x1k,12x4k,8x8k,8x32k"

struct ladder {
	char id[LADDER_TEXT_MAX]; /* the text, NUL-terminated */
	uint32_t count;           /* 1..LADDER_BLOCKS_MAX */
	uint32_t offset[LADDER_BLOCKS_MAX];
	uint32_t length[LADDER_BLOCKS_MAX];
};

/* False, with a reason, when the text is no ladder: a list of COUNTxSIZE, sizes
 * with an optional k (1024), 1..LADDER_BLOCKS_MAX blocks, below 2^31 bytes in all. */
MUST_CHECK bool ladder_parse(struct span text, struct ladder *ret_ladder, struct error *error);

/* How many blocks lie wholly within the first prompt_bytes; the rest hash
 * differently from one HAProxy version to the next and are never used. */
uint32_t ladder_usable(const struct ladder *ladder, uint64_t prompt_bytes);

/* First byte behind block i-1, so the bytes that i blocks cover; 0 for i = 0. */
uint32_t ladder_reach(const struct ladder *ladder, uint32_t blocks);
