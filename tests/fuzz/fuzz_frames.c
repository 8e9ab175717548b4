/* fuzz_frames.c - a stream of bytes, taken apart as far as it goes: frames, then
 * hello, messages, actions and goodbyes. What reads as a value is written and
 * read again as the same. */
#include <string.h>

#include "spoa/spop/ack.h"
#include "spoa/spop/disconnect.h"
#include "spoa/spop/hello.h"
#include "spoa/spop/notify.h"
#include "tests/fuzz/fuzz.h"

static void inside(struct spop_text text, struct spop_input payload)
{
	expect(!text.at || ((const uint8_t *)text.at >= payload.at &&
	                    (const uint8_t *)text.at + text.length <= payload.end));
}

static void there_and_back(const struct spop_value *value)
{
	static uint8_t room[1 << 16];
	struct spop_output out = { room, room + sizeof(room) };
	struct spop_value again;
	struct spop_input in;
	uint8_t *first;

	if (!value_write(&out, value))
		return;
	in = (struct spop_input){ room, out.at };
	first = out.at;
	expect(value_read(&in, &again) == SPOP_NONE && in.at == in.end);
	out.end = room + sizeof(room);
	if (value_write(&out, &again))
		expect(out.at - first == first - room &&
		       memcmp(room, first, (size_t)(first - room)) == 0);
}

static void hello(struct spop_input payload)
{
	struct hello hello;

	if (hello_read(payload, &hello) != SPOP_NONE)
		return;
	inside(hello.engine_id, payload);
	expect(hello.max_frame_size >= FRAME_SIZE_MIN);
}

static void answer(struct spop_input payload)
{
	struct hello_answer answer;

	if (hello_read_answer(payload, &answer) == SPOP_NONE)
		inside(answer.capabilities, payload);
}

static void notify(struct spop_input payload)
{
	struct spop_input in = payload;
	struct notify_message message;
	enum spop_error error = SPOP_NONE;

	while (error == SPOP_NONE && in.at < in.end) {
		error = notify_read_message(&in, &message);
		for (uint32_t i = 0; error == SPOP_NONE && i < message.arguments; i++) {
			struct spop_text name;
			struct spop_value value;

			error = notify_read_argument(&in, &name, &value);
			if (error == SPOP_NONE) {
				inside(name, payload);
				there_and_back(&value);
			}
		}
	}
	expect(error == notify_verify(payload));
}

static void ack(struct spop_input in)
{
	struct spop_input payload = in;
	struct ack_action action;

	while (in.at < in.end && ack_read(&in, &action) == SPOP_NONE) {
		inside(action.name, payload);
		if (action.set)
			there_and_back(&action.value);
	}
}

static void goodbye(struct spop_input payload)
{
	struct disconnect disconnect;

	if (disconnect_read(payload, &disconnect) == SPOP_NONE)
		inside(disconnect.message, payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spop_input stream = { data, data + size };
	struct frame frame;
	enum spop_error error;

	while (frame_next(&stream, FRAME_SIZE_MAX, &frame, &error)) {
		expect(frame.payload.end == stream.at && frame.payload.at <= frame.payload.end);
		/* By type, and also as each of the others: all must hold. */
		hello(frame.payload);
		answer(frame.payload);
		notify(frame.payload);
		ack(frame.payload);
		goodbye(frame.payload);
	}
	return 0;
}
