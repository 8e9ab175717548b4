/* reply.h - what a chat client reads of an answer: its text and its usage. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/bytes.h"

struct reply {
	int64_t prompt_tokens, cached_tokens, output_tokens; /* -1: not said */
	bool whole; /* a stream that came to its [DONE], or a JSON object to its end */
};

/* Of a body, SSE or JSON. Adds the text as it stands in the JSON, escapes and all, to ret_text. */
void reply_read(struct span body, bool stream, struct reply *ret_reply, struct bytes *ret_text);
