/* test_notify.c - messages and arguments, one by one. Proves P005. */
#include "spoa/spop/notify.h"
#include "tests/spoa/spop/golden.h"

/* Two messages: one of two arguments, one of none. */
static struct spop_input two_messages(uint8_t *bytes, size_t size)
{
	struct spop_output out = { bytes, bytes + size };
	struct spop_value word = value_string(text_of("x"));
	struct spop_value number = value_int64(5);

	assert_true(notify_write_message(&out, "ask", 2));
	assert_true(pair_write(&out, "id", &word));
	assert_true(pair_write(&out, "n", &number));
	assert_true(notify_write_message(&out, "zzz", 0));
	return (struct spop_input){ bytes, out.at };
}

static void messages_come_with_their_arguments(void **state)
{
	uint8_t bytes[64];
	struct spop_input in = two_messages(bytes, sizeof(bytes));
	struct notify_message message;
	struct spop_text name;
	struct spop_value value;

	(void)state;
	assert_int_equal(notify_verify(in), SPOP_NONE);
	assert_int_equal(notify_read_message(&in, &message), SPOP_NONE);
	assert_true(text_is(message.name, "ask"));
	assert_int_equal(message.arguments, 2);
	assert_int_equal(notify_read_argument(&in, &name, &value), SPOP_NONE);
	assert_true(text_is(name, "id"));
	assert_true(text_is(value.text, "x"));
	assert_int_equal(notify_read_argument(&in, &name, &value), SPOP_NONE);
	assert_int_equal(value.integer, 5);
	assert_int_equal(notify_read_message(&in, &message), SPOP_NONE);
	assert_true(text_is(message.name, "zzz"));
	assert_int_equal(message.arguments, 0);
	assert_ptr_equal(in.at, in.end);
}

static void every_cut_but_at_a_message_is_invalid(void **state)
{
	uint8_t bytes[64];
	struct spop_input whole = two_messages(bytes, sizeof(bytes));
	const uint8_t *second = whole.end - 5;

	(void)state;
	for (const uint8_t *end = whole.at + 1; end < whole.end; end++) {
		struct spop_input cut = { whole.at, end };

		assert_int_equal(notify_verify(cut), end == second ? SPOP_NONE : SPOP_INVALID);
	}
}

static void a_head_without_its_count_is_invalid_and_changes_nothing(void **state)
{
	static const uint8_t bytes[] = { 3, 'a', 's', 'k' };
	struct notify_message message = { .arguments = 7 };

	(void)state;
	for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
		struct spop_input in = { bytes, bytes + cut };

		assert_int_equal(notify_read_message(&in, &message), SPOP_INVALID);
		assert_ptr_equal(in.at, bytes);
		assert_int_equal(message.arguments, 7);
	}
}

static void a_message_has_at_most_255_arguments(void **state)
{
	uint8_t bytes[8];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_output tight = { bytes, bytes + 2 };

	(void)state;
	assert_false(notify_write_message(&out, "a", 256));
	assert_false(notify_write_message(&tight, "a", 255));
	tight.end++;
	assert_true(notify_write_message(&tight, "a", 255));
	assert_int_equal(bytes[2], 255);
}

int main(void)
{
	const struct CMUnitTest notifies[] = {
		cmocka_unit_test(messages_come_with_their_arguments),
		cmocka_unit_test(every_cut_but_at_a_message_is_invalid),
		cmocka_unit_test(a_head_without_its_count_is_invalid_and_changes_nothing),
		cmocka_unit_test(a_message_has_at_most_255_arguments),
	};

	return cmocka_run_group_tests(notifies, NULL, NULL);
}
