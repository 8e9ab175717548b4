/* hello.h - the first frame each way: version, frame size, capabilities. */
#pragma once

#include "spoa/spop/frame.h"

/* What HAProxy offers. */
struct hello {
	uint32_t max_frame_size; /* FRAME_SIZE_MIN or more, as announced */
	bool pipelining;         /* offered */
	bool health_check;       /* answer and close */
	struct spop_text engine_id;
};

/* What the agent answered, for peers of an agent: tests and checks. */
struct hello_answer {
	uint32_t max_frame_size;
	struct spop_text version, capabilities;
};

/* The payload of a HAPROXY-HELLO. Unknown entries are ignored. The error says
 * what is missing or wrong; version 2.0 must be among those offered. */
SPOP_CHECK enum spop_error hello_read(struct spop_input payload, struct hello *ret_hello);
/* A whole AGENT-HELLO frame. */
SPOP_CHECK bool hello_write_answer(struct spop_output *out, uint32_t max_frame_size,
                                   bool pipelining);

/* The other side of both. */
SPOP_CHECK bool hello_write(struct spop_output *out, uint32_t max_frame_size,
                            const char *capabilities, bool health_check, const char *engine_id);
SPOP_CHECK enum spop_error hello_read_answer(struct spop_input payload,
                                             struct hello_answer *ret_answer);
