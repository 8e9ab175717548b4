/* frame.c - cut frames off a stream, and put heads on those we send. */
#include "spoa/spop/frame.h"

#include <string.h>

enum { FLAG_BYTES = 4 };

static uint32_t big_endian_read(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void big_endian_write(uint8_t *at, uint32_t number)
{
	at[0] = (uint8_t)(number >> 24);
	at[1] = (uint8_t)(number >> 16);
	at[2] = (uint8_t)(number >> 8);
	at[3] = (uint8_t)number;
}

uint32_t frame_length(struct spop_input stream)
{
	return stream.end - stream.at < FRAME_LENGTH_BYTES ? 0 : big_endian_read(stream.at);
}

static enum spop_error head_read(struct spop_input *in, struct frame *frame)
{
	enum spop_error error;

	frame->type = *in->at++;
	frame->flags = big_endian_read(in->at);
	in->at += FLAG_BYTES;
	error = varint_read(in, &frame->stream);
	return error == SPOP_NONE ? varint_read(in, &frame->id) : error;
}

bool frame_next(struct spop_input *stream, uint32_t limit, struct frame *ret_frame,
                enum spop_error *ret_error)
{
	struct spop_input body;
	struct frame frame;
	uint32_t length;

	*ret_error = SPOP_NONE;
	if (stream->end - stream->at < FRAME_LENGTH_BYTES)
		return false;
	length = big_endian_read(stream->at);
	if (length > limit || length < FRAME_BODY_MIN) {
		*ret_error = length > limit ? SPOP_TOO_BIG : SPOP_INVALID;
		return false;
	}
	body.at = stream->at + FRAME_LENGTH_BYTES;
	if ((size_t)(stream->end - body.at) < length)
		return false;
	body.end = body.at + length;
	*ret_error = head_read(&body, &frame);
	if (*ret_error != SPOP_NONE)
		return false;
	frame.payload = body;
	*ret_frame = frame;
	stream->at = body.end;
	return true;
}

bool frame_begin(struct spop_output *out, enum frame_type type, uint64_t stream, uint64_t id,
                 uint8_t **ret_mark)
{
	struct spop_output rest = *out;

	if (rest.end - rest.at < FRAME_LENGTH_BYTES + 1 + FLAG_BYTES)
		return false;
	rest.at += FRAME_LENGTH_BYTES;
	*rest.at++ = (uint8_t)type;
	big_endian_write(rest.at, FRAME_FIN);
	rest.at += FLAG_BYTES;
	if (!varint_write(&rest, stream) || !varint_write(&rest, id))
		return false;
	*ret_mark = out->at;
	*out = rest;
	return true;
}

void frame_end(struct spop_output *out, uint8_t *mark)
{
	big_endian_write(mark, (uint32_t)(out->at - mark) - FRAME_LENGTH_BYTES);
}

const char *frame_type_name(uint8_t type)
{
	switch ((enum frame_type)type) {
	case FRAME_UNSET:
		break;
#define AS_CASE(id, number, name)                                                                  \
	case FRAME_##id:                                                                           \
		return name;
		FRAME_TYPES(AS_CASE)
#undef AS_CASE
	}
	return "unknown";
}
