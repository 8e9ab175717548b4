/* test_disconnect.c - the last frame, either way. Proves P006, P009. */
#include "spoa/spop/disconnect.h"
#include "tests/spoa/spop/golden.h"

static void the_golden_goodbye_is_written_and_read(void **state)
{
	uint8_t bytes[64];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_input stream;
	struct disconnect disconnect;
	struct frame frame;
	enum spop_error error;

	(void)state;
	assert_true(disconnect_write(&out, FRAME_HAPROXY_DISCONNECT, SPOP_NONE));
	assert_hex(bytes, out.at, GOLDEN_BYE);
	stream = (struct spop_input){ bytes, out.at };
	assert_true(frame_next(&stream, 256, &frame, &error));
	assert_int_equal(disconnect_read(frame.payload, &disconnect), SPOP_NONE);
	assert_int_equal(disconnect.status, 0);
	assert_true(text_is(disconnect.message, "normal"));
}

static void every_error_of_ours_reads_back(void **state)
{
#define AS_NUMBER(id, code, text) SPOP_##id,
	static const enum spop_error errors[] = { SPOP_ERRORS(AS_NUMBER) };
#undef AS_NUMBER
	uint8_t bytes[128];

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct spop_output out = { bytes, bytes + sizeof(bytes) };
		struct spop_input stream = { bytes, NULL };
		struct disconnect disconnect;
		struct frame frame;
		enum spop_error error;

		assert_true(disconnect_write(&out, FRAME_AGENT_DISCONNECT, errors[i]));
		stream.end = out.at;
		assert_true(frame_next(&stream, 256, &frame, &error));
		assert_int_equal(frame.type, FRAME_AGENT_DISCONNECT);
		assert_int_equal(disconnect_read(frame.payload, &disconnect), SPOP_NONE);
		assert_int_equal(disconnect.status, errors[i]);
		assert_true(text_is(disconnect.message, spop_error_text(errors[i])));
	}
}

static void without_a_status_it_is_unknown(void **state)
{
	static const uint8_t odd[] = { 1, 'x', 0x04 };
	struct disconnect disconnect = { .status = 7 };
	struct spop_input empty = { odd, odd };
	struct spop_input cut = { odd, odd + sizeof(odd) };

	(void)state;
	assert_int_equal(disconnect_read(cut, &disconnect), SPOP_INVALID);
	assert_int_equal(disconnect.status, 7);
	assert_int_equal(disconnect_read(empty, &disconnect), SPOP_NONE);
	assert_int_equal(disconnect.status, SPOP_UNKNOWN);
}

static void without_room_nothing_is_written(void **state)
{
	uint8_t bytes[64];

	(void)state;
	for (size_t room = 0; room < 41; room++) {
		struct spop_output out = { bytes, bytes + room };

		assert_false(disconnect_write(&out, FRAME_AGENT_DISCONNECT, SPOP_NONE));
		assert_ptr_equal(out.at, bytes);
	}
}

int main(void)
{
	const struct CMUnitTest disconnects[] = {
		cmocka_unit_test(the_golden_goodbye_is_written_and_read),
		cmocka_unit_test(every_error_of_ours_reads_back),
		cmocka_unit_test(without_a_status_it_is_unknown),
		cmocka_unit_test(without_room_nothing_is_written),
	};

	return cmocka_run_group_tests(disconnects, NULL, NULL);
}
