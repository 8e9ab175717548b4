/* test_frame.c - cut frames off a stream. Proves P003, P009. */
#include "spoa/spop/frame.h"
#include "tests/spoa/spop/golden.h"

enum { LIMIT = 16380 };

static void a_golden_frame_reads_as_what_it_is(void **state)
{
	uint8_t bytes[256];
	struct spop_input stream = { bytes, bytes + hex_read(GOLDEN_ACK, bytes, 256) };
	struct frame frame;
	enum spop_error error;

	(void)state;
	assert_int_equal(frame_length(stream), 20);
	assert_true(frame_next(&stream, LIMIT, &frame, &error));
	assert_int_equal(frame.type, FRAME_AGENT_ACK);
	assert_int_equal(frame.flags, FRAME_FIN);
	assert_int_equal(frame.stream, 1);
	assert_int_equal(frame.id, 1);
	assert_int_equal(frame.payload.end - frame.payload.at, 20 - FRAME_BODY_MIN);
	assert_ptr_equal(stream.at, stream.end);
}

static void a_frame_is_cut_only_when_whole(void **state)
{
	uint8_t bytes[256];
	size_t length = hex_read(GOLDEN_BYE, bytes, 256);
	struct frame frame = { .type = 77 };
	enum spop_error error;

	(void)state;
	for (size_t cut = 0; cut < length; cut++) {
		struct spop_input stream = { bytes, bytes + cut };

		assert_false(frame_next(&stream, LIMIT, &frame, &error));
		assert_int_equal(error, SPOP_NONE);
		assert_ptr_equal(stream.at, bytes);
		assert_int_equal(frame.type, 77);
		assert_int_equal(frame_length(stream), cut < 4 ? 0 : 0x25);
	}
}

static void several_frames_come_one_by_one(void **state)
{
	uint8_t bytes[256];
	size_t length = hex_read(GOLDEN_ACK GOLDEN_BYE "0000", bytes, 256);
	struct spop_input stream = { bytes, bytes + length };
	struct frame frame;
	enum spop_error error;

	(void)state;
	assert_true(frame_next(&stream, LIMIT, &frame, &error));
	assert_int_equal(frame.type, FRAME_AGENT_ACK);
	assert_true(frame_next(&stream, LIMIT, &frame, &error));
	assert_int_equal(frame.type, FRAME_HAPROXY_DISCONNECT);
	assert_false(frame_next(&stream, LIMIT, &frame, &error));
	assert_int_equal(error, SPOP_NONE);
	assert_int_equal(stream.end - stream.at, 2);
}

static enum spop_error error_of(const char *hex, uint32_t limit)
{
	uint8_t bytes[256];
	struct spop_input stream = { bytes, bytes + hex_read(hex, bytes, 256) };
	struct frame frame;
	enum spop_error error;

	assert_false(frame_next(&stream, limit, &frame, &error));
	assert_ptr_equal(stream.at, bytes);
	return error;
}

static void a_length_below_seven_or_above_the_limit_is_refused_at_once(void **state)
{
	(void)state;
	assert_int_equal(error_of("00000000", LIMIT), SPOP_INVALID);
	assert_int_equal(error_of("00000006", LIMIT), SPOP_INVALID);
	assert_int_equal(error_of("00000007", LIMIT), SPOP_NONE);
	assert_int_equal(error_of("00003ffc", LIMIT), SPOP_NONE);
	assert_int_equal(error_of("00003ffd", LIMIT), SPOP_TOO_BIG);
	assert_int_equal(error_of("ffffffff", LIMIT), SPOP_TOO_BIG);
	assert_int_equal(error_of("47455420", LIMIT), SPOP_TOO_BIG); /* "GET " */
}

static void ids_that_do_not_fit_in_the_frame_are_invalid(void **state)
{
	(void)state;
	assert_int_equal(error_of("00000007030000000101f0", LIMIT), SPOP_INVALID);
	assert_int_equal(error_of("000000070300000001f080", LIMIT), SPOP_INVALID);
}

static void what_is_begun_and_ended_reads_back(void **state)
{
	static const uint64_t ids[] = {
		0, 1, 239, 240, 2287, 2288, 264432, UINT32_MAX, UINT64_MAX
	};
	uint8_t bytes[64];

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct spop_output out = { bytes, bytes + sizeof(bytes) };
		struct spop_input stream = { bytes, NULL };
		uint8_t *mark;
		struct frame frame;
		enum spop_error error;

		assert_true(frame_begin(&out, FRAME_HAPROXY_NOTIFY, ids[i], ids[8 - i], &mark));
		assert_ptr_equal(mark, bytes);
		*out.at++ = 0x55;
		frame_end(&out, mark);
		stream.end = out.at;
		assert_true(frame_next(&stream, LIMIT, &frame, &error));
		assert_true(frame.stream == ids[i] && frame.id == ids[8 - i]);
		assert_int_equal(frame.type, FRAME_HAPROXY_NOTIFY);
		assert_int_equal(frame.flags, FRAME_FIN);
		assert_int_equal(frame.payload.end - frame.payload.at, 1);
		assert_int_equal(frame.payload.at[0], 0x55);
	}
}

static void without_room_no_head_is_written(void **state)
{
	uint8_t bytes[16];
	uint8_t *mark = NULL;

	(void)state;
	for (size_t room = 0; room < 11; room++) {
		struct spop_output out = { bytes, bytes + room };

		assert_false(frame_begin(&out, FRAME_AGENT_ACK, 1, 1, &mark));
		assert_ptr_equal(out.at, bytes);
		assert_null(mark);
	}
}

static void types_have_names(void **state)
{
	(void)state;
	assert_string_equal(frame_type_name(3), "haproxy-notify");
	assert_string_equal(frame_type_name(103), "agent-ack");
	assert_string_equal(frame_type_name(0), "unknown");
	assert_string_equal(frame_type_name(255), "unknown");
}

int main(void)
{
	const struct CMUnitTest frames[] = {
		cmocka_unit_test(a_golden_frame_reads_as_what_it_is),
		cmocka_unit_test(a_frame_is_cut_only_when_whole),
		cmocka_unit_test(several_frames_come_one_by_one),
		cmocka_unit_test(a_length_below_seven_or_above_the_limit_is_refused_at_once),
		cmocka_unit_test(ids_that_do_not_fit_in_the_frame_are_invalid),
		cmocka_unit_test(what_is_begun_and_ended_reads_back),
		cmocka_unit_test(without_room_no_head_is_written),
		cmocka_unit_test(types_have_names),
	};

	return cmocka_run_group_tests(frames, NULL, NULL);
}
