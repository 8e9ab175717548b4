/* test_hello.c - the first frame each way. Proves P009, P011, P012. */
#include "spoa/spop/hello.h"
#include "tests/spoa/spop/golden.h"

static struct spop_input payload_of(const uint8_t *bytes, const uint8_t *end)
{
	struct spop_input stream = { bytes, end };
	struct frame frame;
	enum spop_error error;

	assert_true(frame_next(&stream, FRAME_SIZE_MAX, &frame, &error));
	assert_ptr_equal(stream.at, stream.end);
	return frame.payload;
}

static void the_golden_hello_is_understood(void **state)
{
	uint8_t bytes[256];
	size_t length = hex_read(GOLDEN_HELLO, bytes, sizeof(bytes));
	struct hello hello;

	(void)state;
	assert_int_equal(hello_read(payload_of(bytes, bytes + length), &hello), SPOP_NONE);
	assert_int_equal(hello.max_frame_size, 16380);
	assert_true(hello.pipelining);
	assert_false(hello.health_check);
	assert_true(text_is(hello.engine_id, "e1"));
}

static void the_hello_of_a_health_check_has_no_capabilities(void **state)
{
	uint8_t bytes[256];
	size_t length = hex_read(GOLDEN_HEALTH, bytes, sizeof(bytes));
	struct hello hello;

	(void)state;
	assert_int_equal(hello_read(payload_of(bytes, bytes + length), &hello), SPOP_NONE);
	assert_true(hello.health_check);
	assert_false(hello.pipelining);
	assert_null(hello.engine_id.at);
}

static void our_writer_makes_the_golden_frames(void **state)
{
	uint8_t bytes[256];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };

	(void)state;
	assert_true(hello_write(&out, 16380, "pipelining,async", false, "e1"));
	assert_hex(bytes, out.at, GOLDEN_HELLO);
	out.at = bytes;
	assert_true(hello_write(&out, 16380, "", true, NULL));
	assert_hex(bytes, out.at, GOLDEN_HEALTH);
}

static void every_cut_of_a_hello_is_refused_and_changes_nothing(void **state)
{
	uint8_t bytes[256];
	size_t length = hex_read(GOLDEN_HELLO, bytes, sizeof(bytes));
	struct spop_input whole = payload_of(bytes, bytes + length);

	(void)state;
	for (const uint8_t *end = whole.at; end < whole.end; end++) {
		struct hello hello = { .max_frame_size = 7 };
		struct spop_input cut = { whole.at, end };
		enum spop_error error = hello_read(cut, &hello);

		/* All that must be there is there before the engine's id. */
		if (end == whole.end - 14)
			assert_int_equal(error, SPOP_NONE);
		else
			assert_int_not_equal(error, SPOP_NONE);
		assert_int_equal(hello.max_frame_size, error == SPOP_NONE ? 16380 : 7);
	}
}

/* One HELLO with these entries; what is NULL or 0 is left out. */
static enum spop_error read_with(const char *versions, uint64_t size, const char *capabilities,
                                 struct hello *hello)
{
	uint8_t bytes[256];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value value;

	if (versions) {
		value = value_string(text_of(versions));
		assert_true(pair_write(&out, "supported-versions", &value));
	}
	if (size) {
		value = (struct spop_value){ .type = SPOP_TYPE_UINT64, .number = size };
		assert_true(pair_write(&out, "max-frame-size", &value));
	}
	if (capabilities) {
		value = value_string(text_of(capabilities));
		assert_true(pair_write(&out, "capabilities", &value));
	}
	return hello_read((struct spop_input){ bytes, out.at }, hello);
}

static void what_is_missing_or_wrong_has_its_number(void **state)
{
	struct hello hello;

	(void)state;
	assert_int_equal(read_with("2.0", 16380, "", &hello), SPOP_NONE);
	assert_int_equal(read_with(NULL, 16380, "", &hello), SPOP_NO_VERSION);
	assert_int_equal(read_with("2.0", 0, "", &hello), SPOP_NO_FRAME_SIZE);
	assert_int_equal(read_with("2.0", 16380, NULL, &hello), SPOP_NO_CAPABILITIES);
	assert_int_equal(read_with("1.0", 16380, "", &hello), SPOP_BAD_VERSION);
	assert_int_equal(read_with("", 16380, "", &hello), SPOP_BAD_VERSION);
	assert_int_equal(read_with("12.0", 16380, "", &hello), SPOP_BAD_VERSION);
	assert_int_equal(read_with("2.0", 255, "", &hello), SPOP_BAD_FRAME_SIZE);
	assert_int_equal(read_with("2.0", 256, "", &hello), SPOP_NONE);
	assert_int_equal(read_with("2.0", (uint64_t)1 << 32, "", &hello), SPOP_BAD_FRAME_SIZE);
}

static void one_of_several_versions_is_enough(void **state)
{
	struct hello hello;

	(void)state;
	assert_int_equal(read_with("1.0, 2.0", 16380, "", &hello), SPOP_NONE);
	assert_int_equal(read_with(" 2.0 ,3.0", 16380, "", &hello), SPOP_NONE);
	assert_int_equal(read_with("1.0,3.0", 16380, "", &hello), SPOP_BAD_VERSION);
}

static void an_entry_of_another_type_is_as_good_as_none(void **state)
{
	uint8_t bytes[256];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value number = value_int64(2);
	struct hello hello;

	(void)state;
	assert_true(pair_write(&out, "supported-versions", &number));
	assert_true(pair_write(&out, "unheard-of", &number));
	assert_int_equal(hello_read((struct spop_input){ bytes, out.at }, &hello), SPOP_NO_VERSION);
}

static bool pipelining_of(const char *capabilities)
{
	struct hello hello;

	assert_int_equal(read_with("2.0", 16380, capabilities, &hello), SPOP_NONE);
	return hello.pipelining;
}

static void only_pipelining_is_taken_and_only_if_offered(void **state)
{
	(void)state;
	assert_false(pipelining_of(""));
	assert_false(pipelining_of("async"));
	assert_true(pipelining_of("pipelining"));
	assert_true(pipelining_of("pipelining,async,fragmentation"));
	assert_true(pipelining_of("fragmentation, pipelining"));
	assert_false(pipelining_of("pipelinings,xpipelining"));
}

static void the_answer_reads_back(void **state)
{
	uint8_t bytes[256];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_output tight = { bytes, bytes };
	struct hello_answer answer;
	size_t length;

	(void)state;
	assert_true(hello_write_answer(&out, 98300, true));
	length = (size_t)(out.at - bytes);
	assert_int_equal(hello_read_answer(payload_of(bytes, out.at), &answer), SPOP_NONE);
	assert_int_equal(answer.max_frame_size, 98300);
	assert_true(text_is(answer.version, "2.0"));
	assert_true(text_is(answer.capabilities, "pipelining"));
	for (size_t room = 0; room < length; room++) {
		tight.end = bytes + room;
		assert_false(hello_write_answer(&tight, 98300, true));
		assert_ptr_equal(tight.at, bytes);
	}
	out.at = bytes;
	assert_true(hello_write_answer(&out, 256, false));
	assert_int_equal(hello_read_answer(payload_of(bytes, out.at), &answer), SPOP_NONE);
	assert_int_equal(answer.capabilities.length, 0);
}

int main(void)
{
	const struct CMUnitTest hellos[] = {
		cmocka_unit_test(the_golden_hello_is_understood),
		cmocka_unit_test(the_hello_of_a_health_check_has_no_capabilities),
		cmocka_unit_test(our_writer_makes_the_golden_frames),
		cmocka_unit_test(every_cut_of_a_hello_is_refused_and_changes_nothing),
		cmocka_unit_test(what_is_missing_or_wrong_has_its_number),
		cmocka_unit_test(one_of_several_versions_is_enough),
		cmocka_unit_test(an_entry_of_another_type_is_as_good_as_none),
		cmocka_unit_test(only_pipelining_is_taken_and_only_if_offered),
		cmocka_unit_test(the_answer_reads_back),
	};

	return cmocka_run_group_tests(hellos, NULL, NULL);
}
