/* answer.h - what an OpenAI-compatible engine writes: heads, errors, bodies, chunks of a stream. */
#pragma once

#include <stdbool.h>

#include "tests/sim/bytes.h"
#include "tests/sim/call.h"
#include "tests/sim/connection.h"

/* A whole answer of this type with this body. */
void answer_whole(struct connection *connection, int status, const char *type, struct span body);

/* An error as vLLM words it; retry_after -1: without the header. */
void answer_error(struct connection *connection, int status, int retry_after, const char *message);

/* The head of a stream, and its end with usage and [DONE]. */
void answer_stream_head(struct connection *connection);
void answer_stream_end(struct connection *connection);

/* One token; the first one brings the role along. */
void answer_token(struct connection *connection, uint32_t index);

/* The whole of a call that is no stream. */
void answer_call(struct connection *connection);

/* The same, but only the head and the first half of the body. */
void answer_half(struct connection *connection);
