/* test_messages.c - all of a NOTIFY is heard before anything is done. Proves P002,
 * P005, P024. */
#include "tests/spoa/messages/fixture.h"

static struct stub_notify notify;
static struct stub_answer answer;

static void an_unknown_message_is_answered_with_an_action(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, "zzz");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(context.counters.unknown_messages, 1);
	assert_true(answer.out.at > answer.bytes);
	assert_int_equal(stub.decided, 0);
}

static void an_empty_notify_is_answered_too(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_true(answer.out.at > answer.bytes);
}

static void messages_stand_beside_each_other(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, "zzz");
	put_text(&notify, "id", "not this");
	put_route(&notify, "u1", 2);
	put_message(&notify, CONTRACT_FIRST);
	put_text(&notify, "id", "u0");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.decided, 1);
	assert_int_equal(stub.first_bytes, 1);
	assert_string_equal(stub.id, "u1"); /* the route is the last that is done */
	assert_text(&answer, "action", "route");
	assert_false(has(&answer, "retry_after"));
}

static void a_repeated_message_is_heard_once(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_route(&notify, "u1", 0);
	put_route(&notify, "u2", 0);
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.decided, 1);
	assert_string_equal(stub.id, "u1");
	assert_int_equal(context.counters.unknown_messages, 1);
}

static void a_frame_broken_anywhere_decides_nothing(void **state)
{
	struct message_context context = stub_context();
	struct spop_input whole;
	const uint8_t *first;

	(void)state;
	notify_start(&notify);
	put_route(&notify, "u1", 2);
	first = notify.out.at;
	put_message(&notify, CONTRACT_FIRST);
	put_text(&notify, "id", "u0");
	whole = notify_end(&notify);
	for (const uint8_t *end = whole.at + 1; end < whole.end; end++) {
		struct spop_input cut = { whole.at, end };
		struct message_result result;

		if (end == first)
			continue;
		answer.out.at = answer.bytes;
		answer.out.end = answer.bytes + sizeof(answer.bytes);
		result = messages_run(&context, 0, cut, &answer.out);
		assert_int_equal(result.error, SPOP_INVALID);
		assert_ptr_equal(answer.out.at, answer.bytes);
		assert_null(result.decided.at);
	}
	assert_int_equal(stub.decided, 0);
	assert_int_equal(stub.first_bytes, 0);
}

static void the_source_says_whose_names_to_use(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_route(&notify, "u1", 0);
	answer.out = (struct spop_output){ answer.bytes, answer.bytes + sizeof(answer.bytes) };
	(void)messages_run(&context, 1, notify_end(&notify), &answer.out);
	assert_int_equal(stub.request.source, 1);
	assert_text(&answer, "replica", "b7");
	notify_start(&notify);
	put_message(&notify, CONTRACT_FIRST);
	put_text(&notify, "id", "u0");
	(void)messages_run(&context, 1, notify_end(&notify), &answer.out);
	assert_int_equal(stub.event.by.source, 1);
}

static void a_slot_that_was_taken_can_be_given_back_by_id(void **state)
{
	struct message_context context = stub_context();
	struct message_result result;

	(void)state;
	notify_start(&notify);
	put_route(&notify, "u1", 0);
	result = run(&context, &notify, &answer);
	assert_int_equal(result.decided.len, 2);
	messages_late(&context, result.decided);
	assert_int_equal(stub.late, 1);
	assert_string_equal(stub.late_id, "u1");
	stub.decision.slot = false;
	assert_null(run(&context, &notify, &answer).decided.at);
	stub.decision.slot = true;
	context.observe = true; /* the stream goes on without us whenever we answer */
	assert_null(run(&context, &notify, &answer).decided.at);
}

static usec_t took;

static void on_decision(void *data, const struct request *request, const struct decision *decision,
                        usec_t time)
{
	assert_ptr_equal(data, &took);
	assert_int_equal(request->id.len, 2);
	assert_int_equal(decision->reason, REASON_PREFIX);
	took = time;
}

static void takes_three(void)
{
	stub.now += 3;
}

static void the_listener_hears_each_decision_and_its_time(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	context.on_decision = on_decision;
	context.data = &took;
	stub.on_decide = takes_three;
	notify_start(&notify);
	put_route(&notify, "u1", 0);
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(took, 3);
}

int main(void)
{
	const struct CMUnitTest messages[] = {
		cmocka_unit_test(an_unknown_message_is_answered_with_an_action),
		cmocka_unit_test(an_empty_notify_is_answered_too),
		cmocka_unit_test(messages_stand_beside_each_other),
		cmocka_unit_test(a_repeated_message_is_heard_once),
		cmocka_unit_test(a_frame_broken_anywhere_decides_nothing),
		cmocka_unit_test(the_source_says_whose_names_to_use),
		cmocka_unit_test(a_slot_that_was_taken_can_be_given_back_by_id),
		cmocka_unit_test(the_listener_hears_each_decision_and_its_time),
	};

	return cmocka_run_group_tests(messages, NULL, NULL);
}
