/* frame.h - where a frame begins and ends, and what is written on it.
 *
 * On the wire: 4 bytes of length, then type, 4 bytes of flags, stream id and
 * frame id as varints, and the payload. */
#pragma once

#include "spoa/spop/value.h"

/* FRAME(id, number, name): name is for metrics and logs. */
#define FRAME_TYPES(FRAME)                                                                         \
	FRAME(HAPROXY_HELLO, 1, "haproxy-hello")                                                   \
	FRAME(HAPROXY_DISCONNECT, 2, "haproxy-disconnect")                                         \
	FRAME(HAPROXY_NOTIFY, 3, "haproxy-notify")                                                 \
	FRAME(AGENT_HELLO, 101, "agent-hello")                                                     \
	FRAME(AGENT_DISCONNECT, 102, "agent-disconnect")                                           \
	FRAME(AGENT_ACK, 103, "agent-ack")

#define AS_ENUM(id, number, name) FRAME_##id = (number),
enum frame_type { FRAME_UNSET = 0, FRAME_TYPES(AS_ENUM) };
#undef AS_ENUM

enum { FRAME_FIN = 1, FRAME_ABORT = 2 };

enum {
	FRAME_LENGTH_BYTES = 4,
	FRAME_BODY_MIN = 7,       /* type, flags and two one-byte ids */
	FRAME_SIZE_MIN = 256,     /* smallest max-frame-size the protocol knows */
	FRAME_SIZE_MAX = 1 << 20, /* largest frame we ever take */
};

struct frame {
	uint8_t type; /* enum frame_type, or a number nobody knows */
	uint32_t flags;
	uint64_t stream, id;
	struct spop_input payload; /* borrowed from the stream */
};

/* Cuts the next frame off a stream of bytes. True: *ret_frame is set and the
 * stream moved behind it. False and SPOP_NONE: more bytes are needed, nothing has
 * changed; SPOP_TOO_BIG: its length is above limit, seen as soon as the 4 bytes
 * are there; SPOP_INVALID: no frame. */
SPOP_CHECK bool frame_next(struct spop_input *stream, uint32_t limit, struct frame *ret_frame,
                           enum spop_error *ret_error);

/* The length prefix, once 4 bytes are there; 0 before. */
uint32_t frame_length(struct spop_input stream);

/* Begins a whole frame (FIN): writes its head, and where it began to *ret_mark.
 * frame_end() fills in the length. To give up set out->at back to the mark. */
SPOP_CHECK bool frame_begin(struct spop_output *out, enum frame_type type, uint64_t stream,
                            uint64_t id, uint8_t **ret_mark);
void frame_end(struct spop_output *out, uint8_t *mark);

/* "unknown" for numbers that are none of ours. */
const char *frame_type_name(uint8_t type);
