/* test_response.c - who serves, told at the first byte. Proves P028 (by id only). */
#include "tests/spoa/messages/fixture.h"

static struct stub_notify notify;
static struct stub_answer answer;

static struct spop_value address(enum spop_type type, const char *bytes, size_t length)
{
	struct spop_value value = { .type = type, .number = 0 };

	memcpy(value.address, bytes, length);
	return value;
}

static void begin(const char *id)
{
	notify_start(&notify);
	put_message(&notify, CONTRACT_FIRST);
	put(&notify, "v", value_int64(1));
	put_text(&notify, "id", id);
	put_text(&notify, "be", "svc-a");
	put_text(&notify, "srv", "a1");
}

static void the_server_that_serves_is_told(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	begin("u1");
	put(&notify, "addr", address(SPOP_TYPE_IPV4, "\x7f\x00\x00\x01", 4));
	put(&notify, "port", value_int64(29011));
	put(&notify, "st", value_int64(200));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.first_bytes, 1);
	assert_int_equal(stub.decided, 0);
	assert_string_equal(stub.id, "u1");
	assert_string_equal(stub.backend, "svc-a");
	assert_string_equal(stub.server, "a1");
	assert_string_equal(stub.address, "127.0.0.1:29011");
	assert_int_equal(stub.event.status, 200);
	assert_int_equal(context.counters.messages[MESSAGE_response], 1);
	assert_int_equal(context.counters.messages[MESSAGE_route], 0);
	for (int i = 0; i < FIRST_ARGUMENT_COUNT; i++)
		assert_int_equal(context.counters.bad_first_arguments[i], 0);
	assert_int_equal(stub.counters.bad_contract, 0);
	assert_true(has(&answer, "retry_after")); /* unset: the ACK is not empty */
	assert_false(has(&answer, "action"));     /* the decision's stays */
}

static void an_ipv6_address_stands_in_brackets(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	begin("u1");
	put(&notify, "addr", address(SPOP_TYPE_IPV6, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16));
	put(&notify, "port", value_int64(8000));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.address, "[::1]:8000");
}

static void without_address_or_port_the_name_must_do(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	begin("u1");
	put_null(&notify, "addr");
	put_null(&notify, "port");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.address, "-");
	assert_string_equal(stub.server, "a1");
	begin("u1");
	put(&notify, "addr", address(SPOP_TYPE_IPV4, "\x7f\x00\x00\x01", 4));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.address, "-");
	assert_int_equal(context.counters.bad_first_arguments[FIRST_ADDRESS], 0);
}

static void what_is_of_another_type_is_counted_and_not_believed(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	begin("u1");
	put_text(&notify, "addr", "127.0.0.1");
	put(&notify, "port", value_int64(65536));
	put(&notify, "st", value_int64(1000));
	put(&notify, "be", value_bool(true));
	put(&notify, "what", value_bool(true));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.address, "-");
	assert_string_equal(stub.backend, "-");
	assert_int_equal(stub.event.status, 0);
	assert_int_equal(context.counters.bad_first_arguments[FIRST_ADDRESS], 1);
	assert_int_equal(context.counters.bad_first_arguments[FIRST_PORT], 1);
	assert_int_equal(context.counters.bad_first_arguments[FIRST_STATUS], 1);
	assert_int_equal(context.counters.bad_first_arguments[FIRST_BACKEND], 1);
	assert_int_equal(context.counters.unknown_arguments, 1);
}

static void without_an_id_nobody_is_told(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_FIRST);
	put_null(&notify, "id");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.first_bytes, 0);
	assert_int_equal(context.counters.bad_first_arguments[FIRST_ID], 1);
	assert_int_equal(stub.counters.bad_contract, 1);
	assert_true(answer.out.at > answer.bytes);
}

/* HAProxy went elsewhere: in time for the headers, the client gets that one's id. */
static void another_server_gives_another_session_id(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	stub.feedback.session_at = "127.0.0.1:29011";
	begin("u1");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_text(&answer, "session", "MTI3LjAuMC4xOjI5MDEx");
	assert_false(has(&answer, "retry_after"));
	assert_false(has(&answer, "action"));
	context.observe = true;
	begin("u2");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_false(has(&answer, "session"));
	assert_true(has(&answer, "retry_after"));
}

static struct feedback told;

static void on_first_byte(void *data, const struct first_byte *event,
                          const struct feedback *feedback)
{
	assert_ptr_equal(data, &told);
	assert_int_equal(event->id.len, 2);
	told = *feedback;
}

static void the_listener_hears_what_became_of_it(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	context.on_first_byte = on_first_byte;
	context.data = &told;
	stub.feedback.ttft_ms = 303;
	stub.feedback.moved = true;
	begin("u1");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_true(told.moved);
	assert_true(told.ttft_ms > 302 && told.ttft_ms < 304);
}

int main(void)
{
	const struct CMUnitTest responses[] = {
		cmocka_unit_test(the_server_that_serves_is_told),
		cmocka_unit_test(an_ipv6_address_stands_in_brackets),
		cmocka_unit_test(without_address_or_port_the_name_must_do),
		cmocka_unit_test(what_is_of_another_type_is_counted_and_not_believed),
		cmocka_unit_test(without_an_id_nobody_is_told),
		cmocka_unit_test(another_server_gives_another_session_id),
		cmocka_unit_test(the_listener_hears_what_became_of_it),
	};

	return cmocka_run_group_tests(responses, NULL, NULL);
}
