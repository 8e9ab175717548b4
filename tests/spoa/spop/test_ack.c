/* test_ack.c - actions on variables, there and back. Proves P008, P009. */
#include "spoa/spop/ack.h"
#include "tests/spoa/spop/golden.h"

static void the_smallest_ack_has_known_bytes(void **state)
{
	uint8_t bytes[64];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value x = value_string(text_of("x"));
	uint8_t *mark;

	(void)state;
	assert_true(frame_begin(&out, FRAME_AGENT_ACK, 1, 1, &mark));
	assert_true(ack_set(&out, ACK_SCOPE_TRANSACTION, "action", &x));
	frame_end(&out, mark);
	assert_hex(bytes, out.at, GOLDEN_ACK);
}

static void a_variable_is_removed_by_unset(void **state)
{
	uint8_t bytes[64];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };

	(void)state;
	assert_true(ack_unset(&out, ACK_SCOPE_TRANSACTION, "replica"));
	assert_hex(bytes, out.at, "020202077265706c696361");
}

static void a_null_is_never_set(void **state)
{
	uint8_t bytes[64];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value null = { .type = SPOP_TYPE_NULL };

	(void)state;
	assert_false(ack_set(&out, ACK_SCOPE_TRANSACTION, "replica", &null));
	assert_ptr_equal(out.at, bytes);
}

static void actions_read_back(void **state)
{
	uint8_t bytes[64];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct spop_value status = value_int64(429);
	struct ack_action action;
	struct spop_input in;

	(void)state;
	assert_true(ack_set(&out, ACK_SCOPE_TRANSACTION, "status", &status));
	assert_true(ack_unset(&out, ACK_SCOPE_RESPONSE, "model"));
	in = (struct spop_input){ bytes, out.at };
	assert_int_equal(ack_read(&in, &action), SPOP_NONE);
	assert_true(action.set);
	assert_int_equal(action.scope, ACK_SCOPE_TRANSACTION);
	assert_true(text_is(action.name, "status"));
	assert_int_equal(action.value.type, SPOP_TYPE_INT64);
	assert_int_equal(action.value.integer, 429);
	assert_int_equal(ack_read(&in, &action), SPOP_NONE);
	assert_false(action.set);
	assert_int_equal(action.scope, ACK_SCOPE_RESPONSE);
	assert_true(text_is(action.name, "model"));
	assert_ptr_equal(in.at, in.end);
}

static enum spop_error error_of(const char *hex)
{
	uint8_t bytes[64];
	struct spop_input in = { bytes, bytes + hex_read(hex, bytes, sizeof(bytes)) };
	struct ack_action action = { .scope = 7 };
	enum spop_error error = ack_read(&in, &action);

	if (error != SPOP_NONE) {
		assert_ptr_equal(in.at, bytes);
		assert_int_equal(action.scope, 7);
	}
	return error;
}

static void what_is_no_action_is_invalid(void **state)
{
	(void)state;
	assert_int_equal(error_of("0103020161080178"), SPOP_NONE);
	assert_int_equal(error_of("0303020161080178"), SPOP_INVALID); /* no such action */
	assert_int_equal(error_of("0102020161080178"), SPOP_INVALID); /* other count */
	assert_int_equal(error_of("0103050161080178"), SPOP_INVALID); /* no such scope */
	assert_int_equal(error_of("0203020161"), SPOP_INVALID);
	assert_int_equal(error_of("0202"), SPOP_INVALID);
	assert_int_equal(error_of("02020202"), SPOP_INVALID);
	assert_int_equal(error_of("01030201610803"), SPOP_INVALID);
}

static void without_room_nothing_is_written(void **state)
{
	uint8_t bytes[64];
	struct spop_value x = value_string(text_of("x"));

	(void)state;
	for (size_t room = 0; room < 8; room++) {
		struct spop_output out = { bytes, bytes + room };

		assert_false(ack_set(&out, ACK_SCOPE_TRANSACTION, "a", &x));
		assert_ptr_equal(out.at, bytes);
		assert_true(ack_unset(&out, ACK_SCOPE_TRANSACTION, "a") == (room >= 5));
		assert_ptr_equal(out.at, room >= 5 ? bytes + 5 : bytes);
	}
}

int main(void)
{
	const struct CMUnitTest acks[] = {
		cmocka_unit_test(the_smallest_ack_has_known_bytes),
		cmocka_unit_test(a_variable_is_removed_by_unset),
		cmocka_unit_test(a_null_is_never_set),
		cmocka_unit_test(actions_read_back),
		cmocka_unit_test(what_is_no_action_is_invalid),
		cmocka_unit_test(without_room_nothing_is_written),
	};

	return cmocka_run_group_tests(acks, NULL, NULL);
}
