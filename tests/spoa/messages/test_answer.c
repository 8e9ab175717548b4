/* test_answer.c - a decision becomes variables. Proves P002, P034 (known names only). */
#include "spoa/messages/answer.h"
#include "spoa/messages/quota.h"
#include "tests/spoa/messages/fixture.h"

static struct stub_answer answer;

static void answer_to(const struct decision *decision, uint32_t source, bool observe)
{
	answer.out = (struct spop_output){ answer.bytes, answer.bytes + sizeof(answer.bytes) };
	answer_write(&answer.out, decision, source, observe);
}

static void routed_names_instance_and_replica(void **state)
{
	(void)state;
	(void)stub_context();
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "action", "route");
	assert_text(&answer, "instance", "svc-a");
	assert_text(&answer, "replica", "a1");
	assert_text(&answer, "reason", "prefix");
	assert_false(has(&answer, "model"));
	assert_false(has(&answer, "status"));
	assert_false(has(&answer, "retry_after"));
}

static void the_replica_is_called_as_the_asker_calls_it(void **state)
{
	(void)state;
	(void)stub_context();
	answer_to(&stub.decision, 1, false);
	assert_text(&answer, "replica", "b7");
	answer_to(&stub.decision, 2, false); /* that HAProxy does not have it */
	assert_text(&answer, "instance", "svc-a");
	assert_false(has(&answer, "replica"));
}

static void the_replica_may_be_left_to_haproxy(void **state)
{
	(void)state;
	(void)stub_context();
	stub.decision.replica = NULL;
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "instance", "svc-a");
	assert_false(has(&answer, "replica"));
}

/* Only a replica has one: base64 of 127.0.0.1:29011. */
static void a_session_id_is_answered_where_one_is_given(void **state)
{
	static struct target target = { .label = "127.0.0.1:29011" };

	(void)state;
	(void)stub_context();
	stub.replica.target = &target;
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "session"));
	stub.decision.session = &stub.policy.session;
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "session", "MTI3LjAuMC4xOjI5MDEx");
	answer_to(&stub.decision, 0, true);
	assert_false(has(&answer, "session"));
	stub.decision.replica = NULL;
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "session"));
}

static void the_model_is_named_where_it_has_another_name(void **state)
{
	(void)state;
	(void)stub_context();
	stub.decision.upstream_model = (struct span){ "llama-3-and-more", 7 };
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "model", "llama-3");
}

/* A prefill engine for a decode engine that is not named would be anybody's. */
static void the_prefill_engine_is_named_by_its_address(void **state)
{
	static struct target target = { .label = "10.0.0.7:8000" };
	static struct replica prefill = { .target = &target };

	(void)state;
	(void)stub_context();
	stub.decision.prefill = &prefill;
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "replica", "a1");
	assert_text(&answer, "prefill", "10.0.0.7:8000");
	answer_to(&stub.decision, 2, false);
	assert_false(has(&answer, "prefill"));
	stub.decision.prefill = NULL;
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "prefill"));
}

/* An engine of several ranks is one address; who is told which one cannot use that. */
static void the_rank_is_answered_where_there_are_several(void **state)
{
	static struct target target = { .label = "10.0.0.7:8000#1", .rank = 1, .ranks = 2 };
	static struct replica prefill = { .target = &target };

	(void)state;
	(void)stub_context();
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "rank"));
	stub.target.ranks = 4;
	answer_to(&stub.decision, 0, false);
	assert_number(&answer, "rank", 0);
	stub.target.rank = 3;
	stub.decision.prefill = &prefill;
	answer_to(&stub.decision, 0, false);
	assert_number(&answer, "rank", 3);
	assert_text(&answer, "prefill", "10.0.0.7:8000");
	answer_to(&stub.decision, 2, false); /* whom that HAProxy does not have */
	assert_false(has(&answer, "rank"));
	stub.decision.replica = NULL;
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "rank"));
}

static void a_place_in_the_queue_is_answered_only_where_there_is_one(void **state)
{
	(void)state;
	(void)stub_context();
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "priority"));
	assert_false(has(&answer, "priority_offset"));
	stub.decision.priority = -10;
	stub.decision.priority_offset_ms = -2750;
	answer_to(&stub.decision, 0, false);
	assert_number(&answer, "priority", -10);
	assert_number(&answer, "priority_offset", -2750);
	stub.decision.outcome = OUTCOME_UNANSWERED; /* it waits for a server of HAProxy's choice */
	answer_to(&stub.decision, 0, false);
	assert_number(&answer, "priority", -10);
	stub.decision.outcome = OUTCOME_REJECTED;
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "priority"));
}

static void a_refusal_has_a_status_and_a_time(void **state)
{
	(void)state;
	(void)stub_context();
	stub.decision = (struct decision){ .outcome = OUTCOME_REJECTED,
		                           .reason = REASON_OVERLOAD,
		                           .status = 429,
		                           .retry_after = 7 };
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "action", "reject");
	assert_text(&answer, "reason", "overload");
	assert_number(&answer, "status", 429);
	assert_number(&answer, "retry_after", 7);
	assert_false(has(&answer, "instance"));
	stub.decision.retry_after = 0; /* 404: never */
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "retry_after"));
}

static void a_refusal_says_what_was_exceeded(void **state)
{
	(void)state;
	(void)stub_context();
	stub.decision = (struct decision){ .outcome = OUTCOME_REJECTED,
		                           .reason = REASON_LIMIT,
		                           .limit = LIMIT_TOKENS,
		                           .status = 429,
		                           .retry_after = 1 };
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "code", "tokens_exceeded");
	stub.decision.limit = LIMIT_INFLIGHT;
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "code", "inflight_exceeded");
	stub.decision.reason = REASON_OVERLOAD;
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "code", "server_overloaded");
	stub.decision.reason = REASON_UNKNOWN_MODEL;
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "code"));
}

static void what_is_left_is_answered_where_there_is_a_limit(void **state)
{
	(void)state;
	(void)stub_context();
	answer_to(&stub.decision, 0, false);
	assert_false(has(&answer, "quota_requests") || has(&answer, "quota_tokens"));
	stub.decision.left[LIMIT_REQUESTS] = (struct limit_left){ true, 50, 49, 0.02 };
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "quota_requests", "50;49;20ms");
	assert_false(has(&answer, "quota_tokens"));
	stub.decision.left[LIMIT_TOKENS] = (struct limit_left){ true, 1e6, 0.9, 360 };
	stub.decision.outcome = OUTCOME_REJECTED;
	stub.decision.reason = REASON_LIMIT;
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "quota_tokens", "1000000;0;6m0s");
	answer_to(&stub.decision, 0, true);
	assert_false(has(&answer, "quota_requests"));
}

static void assert_written(double limit, double left, double reset_s, const char *expected)
{
	const struct limit_left limit_left = { true, limit, left, reset_s };
	char text[QUOTA_TEXT_MAX];

	assert_int_equal(quota_write(&limit_left, text), strlen(expected));
	assert_string_equal(text, expected);
}

static void times_are_written_as_openai_writes_them(void **state)
{
	(void)state;
	assert_written(5, 5, 0, "5;5;0ms");
	assert_written(1.5, 0.5, 0.0004, "1;0;1ms");
	assert_written(5, 2.9999999, 0.999, "5;3;999ms");
	assert_written(5, 0, 0.9999, "5;0;1s");
	assert_written(5, 0, 8.64, "5;0;8.64s");
	assert_written(5, 0, 12.3451, "5;0;12.346s");
	assert_written(5, 0, 59.9999, "5;0;1m0s");
	assert_written(5, 0, 3599, "5;0;59m59s");
	assert_written(5, 0, 3600, "5;0;1h0m0s");
	assert_written(5, 0, 86400.5, "5;0;24h0m1s");
	assert_written(1e300, 1e300, 1e300, "1000000000000000;1000000000000000;277777777h46m40s");
}

static void unanswered_is_default_and_says_why(void **state)
{
	(void)state;
	(void)stub_context();
	stub.decision.outcome = OUTCOME_UNANSWERED;
	stub.decision.reason = REASON_NO_CANDIDATE;
	answer_to(&stub.decision, 0, false);
	assert_text(&answer, "action", "default");
	assert_text(&answer, "reason", "no-candidate");
	assert_false(has(&answer, "instance"));
	assert_false(has(&answer, "replica"));
}

static void observing_answers_nothing_else(void **state)
{
	(void)state;
	(void)stub_context();
	answer_to(&stub.decision, 0, true);
	assert_text(&answer, "action", "observe");
	assert_int_equal(answer.out.at - answer.bytes, 3 + 7 + 2 + 7);
}

static void the_longest_names_fit(void **state)
{
	(void)state;
	(void)stub_context();
	memset(stub.instance.name, 'i', NAME_MAX_BYTES - 1);
	memset(stub.replica_names[0], 'r', NAME_MAX_BYTES - 1);
	stub.decision.upstream_model = (struct span){ stub.instance.name, NAME_MAX_BYTES - 1 };
	stub.decision.priority = -2047;
	stub.decision.priority_offset_ms = -524287;
	stub.decision.left[LIMIT_REQUESTS] = (struct limit_left){ true, 1e300, 1e300, 1e300 };
	stub.decision.left[LIMIT_TOKENS] = stub.decision.left[LIMIT_REQUESTS];
	answer_to(&stub.decision, 0, false);
	assert_true(has(&answer, "reason"));
}

static void nothing_is_still_an_action_that_hits_nobody(void **state)
{
	struct ack_action action;
	struct spop_input in;

	(void)state;
	answer.out = (struct spop_output){ answer.bytes, answer.bytes + sizeof(answer.bytes) };
	answer_write_nothing(&answer.out);
	in = (struct spop_input){ answer.bytes, answer.out.at };
	assert_int_equal(ack_read(&in, &action), SPOP_NONE);
	assert_false(action.set);
	assert_true(text_is(action.name, "retry_after"));
	assert_ptr_equal(in.at, in.end);
}

int main(void)
{
	const struct CMUnitTest answers[] = {
		cmocka_unit_test(routed_names_instance_and_replica),
		cmocka_unit_test(the_replica_is_called_as_the_asker_calls_it),
		cmocka_unit_test(the_replica_may_be_left_to_haproxy),
		cmocka_unit_test(a_session_id_is_answered_where_one_is_given),
		cmocka_unit_test(the_prefill_engine_is_named_by_its_address),
		cmocka_unit_test(the_rank_is_answered_where_there_are_several),
		cmocka_unit_test(the_model_is_named_where_it_has_another_name),
		cmocka_unit_test(a_place_in_the_queue_is_answered_only_where_there_is_one),
		cmocka_unit_test(a_refusal_has_a_status_and_a_time),
		cmocka_unit_test(unanswered_is_default_and_says_why),
		cmocka_unit_test(observing_answers_nothing_else),
		cmocka_unit_test(the_longest_names_fit),
		cmocka_unit_test(nothing_is_still_an_action_that_hits_nobody),
		cmocka_unit_test(a_refusal_says_what_was_exceeded),
		cmocka_unit_test(what_is_left_is_answered_where_there_is_a_limit),
		cmocka_unit_test(times_are_written_as_openai_writes_them),
	};

	return cmocka_run_group_tests(answers, NULL, NULL);
}
