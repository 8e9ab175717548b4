/* load_words.h - what HAProxy says of one request: both messages, and the line at its end. */
#pragma once

#include <stdint.h>

#include "policies/core/ladder.h"
#include "spoa/spop/notify.h"

enum { LOAD_ID_BYTES = 36, LOAD_NAME_MAX = 32, LOAD_LINE_MAX = 1024 };

struct load_request {
	char id[LOAD_ID_BYTES + 1];
	uint32_t prompt_bytes;
	uint64_t hashes[LADDER_BLOCKS_MAX]; /* as many as the ladder has blocks */
	/* Of the answer. */
	char instance[LOAD_NAME_MAX], replica[LOAD_NAME_MAX], reason[LOAD_NAME_MAX];
	uint16_t port; /* of the engine that the replica's name means */
};

/* A whole NOTIFY frame each. False when there is no room. */
SPOP_CHECK bool load_words_route(struct spop_output *out, uint64_t stream,
                                 const struct ladder *ladder, const struct load_request *request);
SPOP_CHECK bool load_words_first(struct spop_output *out, uint64_t stream,
                                 const struct load_request *request);
/* The end line; returns its length. */
int load_words_end(char ret_line[LOAD_LINE_MAX], const struct load_request *request);
