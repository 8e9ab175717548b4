/* test_route.c - arguments become a request. Proves P018, P031 (unknown names). */
#include "tests/spoa/messages/fixture.h"

static struct stub_notify notify;
static struct stub_answer answer;

/* One message with just this argument. */
static struct message_context with(const char *name, struct spop_value value)
{
	struct message_context context = stub_context();

	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(1));
	put(&notify, name, value);
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.decided, 1);
	return context;
}

static struct spop_value text(const char *word)
{
	return value_string(text_of(word));
}

static void the_message_of_the_reference_is_read(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_route(&notify, "u1", 3);
	assert_int_equal(*notify.count, 61);
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.id, "u1");
	assert_string_equal(stub.model, "llama");
	assert_string_equal(stub.tenant, "ffffffffffffffff");
	assert_string_equal(stub.session, "-");
	assert_string_equal(stub.strategy, "-");
	assert_string_equal(stub.backend, "-");
	assert_int_equal(stub.request.method.len, 4);
	assert_int_equal(stub.request.path.len, 20);
	assert_int_equal(stub.request.host.len, 11);
	assert_int_equal(stub.request.body_bytes, 9000);
	assert_int_equal(stub.request.body_total, 9100);
	assert_true(stub.request.has_prompt);
	assert_int_equal(stub.request.prompt_bytes, 8900);
	assert_int_equal(stub.request.hash_count, 3);
	assert_true(stub.request.hashes[0] == (uint64_t)-1205034819632174695);
	assert_true(stub.request.hashes[2] == (uint64_t)-1205034819632174693);
	assert_int_equal(context.counters.messages[MESSAGE_route], 1);
	for (int i = 0; i < ROUTE_ARGUMENT_COUNT; i++)
		assert_int_equal(context.counters.bad_route_arguments[i], 0);
	assert_int_equal(context.counters.unknown_arguments, 0);
	assert_int_equal(stub.counters.bad_contract, 0);
	assert_int_equal(stub.counters.foreign_ladder, 0);
}

static void headers_come_by_their_names(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(1));
	put(&notify, "hdr.x-app", text("search"));
	put(&notify, "hdr.x-infer-affinity", text("canary"));
	put_null(&notify, "hdr.x-region");
	put(&notify, "hdr.", text("nothing"));
	put(&notify, "hdr.x-number", value_int64(1));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.request.header_count, 2);
	assert_int_equal(stub.request.headers[0].name.len, 5);
	assert_int_equal(stub.request.headers[0].value.len, 6);
	assert_int_equal(stub.request.headers[1].name.len, 16);
	assert_int_equal(stub.request.headers[1].value.len, 6);
	assert_int_equal(context.counters.unknown_arguments, 1);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_AFFINITY], 1);
}

static void more_headers_than_there_is_room_for_are_counted(void **state)
{
	struct message_context context = stub_context();
	char names[REQUEST_HEADERS_MAX + 2][16];

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "hdr.x-infer-affinity", text("canary"));
	for (int i = 0; i < REQUEST_HEADERS_MAX + 2; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "hdr.x-%d", i);
		put(&notify, names[i], text("a"));
	}
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.request.header_count, REQUEST_HEADERS_MAX);
	assert_int_equal(context.counters.unknown_arguments, 2);
}

static void all_null_is_a_decision_by_load(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
#define AS_NULL(id, name, ...) put_null(&notify, name);
	ROUTE_ARGUMENTS(AS_NULL)
#undef AS_NULL
	put_null(&notify, "h0");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.decided, 1);
	assert_string_equal(stub.id, "-");
	assert_false(stub.request.has_prompt);
	assert_int_equal(stub.request.hash_count, 0);
	assert_text(&answer, "action", "route");
	assert_int_equal(stub.counters.bad_contract, 1);
	assert_int_equal(stub.counters.foreign_ladder, 0);
	/* Without an id the end can never be tied to it: that is worth a count. */
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_ID], 1);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_MODEL], 0);
}

static void each_argument_of_another_type_is_counted_and_not_believed(void **state)
{
	struct spop_value yes = value_bool(true);
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
#define AS_WRONG(id, name, ...) put(&notify, name, yes);
	ROUTE_ARGUMENTS(AS_WRONG)
#undef AS_WRONG
	put(&notify, "h0", yes);
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	for (int i = 0; i < ROUTE_ARGUMENT_COUNT; i++)
		assert_int_equal(context.counters.bad_route_arguments[i], 1);
	assert_string_equal(stub.id, "-");
	assert_string_equal(stub.tenant, "-");
	assert_int_equal(stub.request.hash_count, 0);
	assert_int_equal(stub.request.body_total, 0);
}

static void a_prompt_length_that_is_a_word_is_none(void **state)
{
	struct message_context context = with("plen", text("x"));

	(void)state;
	assert_false(stub.request.has_prompt);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_PROMPT_BYTES], 1);
	assert_text(&answer, "action", "route");
	context = with("plen", value_int64(-1));
	assert_false(stub.request.has_prompt);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_PROMPT_BYTES], 1);
	context = with("plen", value_int64(0));
	assert_true(stub.request.has_prompt);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_PROMPT_BYTES], 0);
}

static void order_does_not_matter_and_unknown_names_are_counted(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put_text(&notify, "lid", LADDER_DEFAULT);
	put(&notify, "h1", value_int64(11));
	put_text(&notify, "plem", "x");
	put_text(&notify, "model", "m");
	put(&notify, "h0", value_int64(10));
	put_text(&notify, "h", "x");
	put_text(&notify, "h07", "x");
	put_text(&notify, "h64", "x");
	put_text(&notify, "hh", "x");
	put_text(&notify, "", "x");
	put_text(&notify, "id", "u2");
	put(&notify, "v", value_int64(1));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.id, "u2");
	assert_string_equal(stub.model, "m");
	assert_int_equal(stub.request.hash_count, 2);
	assert_int_equal(stub.request.hashes[0], 10);
	assert_int_equal(stub.request.hashes[1], 11);
	assert_int_equal(context.counters.unknown_arguments, 6);
}

static void hashes_stop_at_the_first_that_is_missing(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(1));
	put_text(&notify, "lid", LADDER_DEFAULT);
	put(&notify, "h0", value_int64(1));
	put(&notify, "h1", value_int64(2));
	put_null(&notify, "h2");
	put(&notify, "h3", value_int64(4));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.request.hash_count, 2);
}

static void no_more_hashes_than_the_ladder_has(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	stub.policy.ladder.count = 5;
	notify_start(&notify);
	put_route(&notify, "u1", 32);
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.request.hash_count, 5);
}

static void sixty_four_hashes_are_all_taken(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	stub.policy.ladder.count = LADDER_BLOCKS_MAX;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(1));
	put_text(&notify, "lid", LADDER_DEFAULT);
	for (int i = 0; i < LADDER_BLOCKS_MAX; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "h%d", i);
		put(&notify, name, value_int64(i + 1));
	}
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.request.hash_count, 64);
	assert_int_equal(stub.request.hashes[63], 64);
}

static void hashes_of_another_ladder_are_dropped_and_counted(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_route(&notify, "u1", 4);
	(void)strcpy(stub.policy.ladder.id, "4x1k,12x4k,8x8k,8x16k");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.request.hash_count, 0);
	assert_int_equal(stub.counters.foreign_ladder, 1);
	assert_true(stub.request.has_prompt);
	(void)with("h0", value_int64(1)); /* hashes without a ladder */
	assert_int_equal(stub.request.hash_count, 0);
	assert_int_equal(stub.counters.foreign_ladder, 1);
}

static void another_contract_is_decided_by_load_and_counted(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(2));
	put_text(&notify, "id", "u1");
	put_text(&notify, "model", "m");
	put_text(&notify, "s0", "key");
	put_text(&notify, "strat", "random");
	put_text(&notify, "lid", LADDER_DEFAULT);
	put(&notify, "h0", value_int64(1));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.counters.bad_contract, 1);
	assert_string_equal(stub.id, "u1");
	assert_string_equal(stub.model, "m");
	assert_string_equal(stub.session, "-");
	assert_string_equal(stub.strategy, "-");
	assert_int_equal(stub.request.hash_count, 0);
}

static void the_session_is_the_first_header_that_is_there(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(1));
	put_text(&notify, "s9", "last");
	put_null(&notify, "s0");
	put_text(&notify, "s1", "");
	put_text(&notify, "s3", "third");
	put_text(&notify, "s4", "fourth");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.session, "third");
}

static void the_policy_says_which_session_header_counts(void **state)
{
	struct message_context context = stub_context();
	struct session_policy *session = &stub.policy.session;

	(void)state;
	session->header_count = 3;
	session->headers[0].argument = SESSION_HEADER_OTHER;
	(void)strcpy(session->headers[0].name, "x-my-chat");
	session->headers[1].argument = 9;
	session->headers[2].argument = 5;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(1));
	put_text(&notify, "s1", "not asked for");
	put_text(&notify, "s5", "fifth");
	put_text(&notify, "s9", "ninth");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.session, "ninth");
	assert_false(stub.request.session_may_be_id);
	put_text(&notify, "hdr.X-My-Chat", "mine");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.session, "mine");
	session->headers[1].argument = 5;
	session->headers[0].name[0] = 'y';
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.session, "fifth");
	assert_true(stub.request.session_may_be_id);
}

static void what_a_client_says_of_its_tries_is_read(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(1));
	put_text(&notify, "excl", "a1,a2");
	put_text(&notify, "retry", "2");
	put_text(&notify, "tmo", "7.5");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.request.exclude.len, 5);
	assert_int_equal(stub.request.retry_count, 2);
	assert_true(stub.request.patience_ms > 7499 && stub.request.patience_ms < 7501);
	context = with("tmo", text("None"));
	assert_true(stub.request.patience_ms == 0);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_TIMEOUT], 1);
}

/* Cut, it would be the session of all who begin alike. */
static void a_session_of_more_than_256_bytes_is_none(void **state)
{
	char key[258];

	(void)state;
	memset(key, 'A', sizeof(key) - 1);
	key[257] = '\0';
	(void)with("s5", text(key));
	assert_string_equal(stub.session, "-");
	key[256] = '\0';
	(void)with("s5", text(key));
	assert_int_equal(stub.request.session.len, 256);
	assert_true(stub.request.session_may_be_id);
}

static void a_tenant_is_a_number_in_hex_or_a_name(void **state)
{
	(void)state;
	(void)with("tenant", value_int64(0x0123456789abcdef));
	assert_string_equal(stub.tenant, "0123456789abcdef");
	(void)with("tenant", value_int64(0));
	assert_string_equal(stub.tenant, "0000000000000000");
	(void)with("tenant", text("team-a"));
	assert_string_equal(stub.tenant, "team-a");
	(void)with("tenant", text(""));
	assert_string_equal(stub.tenant, "-");
}

static void bytes_are_as_good_as_text(void **state)
{
	struct spop_value binary = text("bin");

	(void)state;
	binary.type = SPOP_TYPE_BINARY;
	(void)with("model", binary);
	assert_string_equal(stub.model, "bin");
}

static void the_trusted_strategy_wins(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	(void)with("rstrat", text("random"));
	assert_string_equal(stub.strategy, "random");
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "v", value_int64(1));
	put_text(&notify, "rstrat", "random");
	put_text(&notify, "strat", "least-work");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.strategy, "least-work");
}

static void retries_are_a_small_number_or_none(void **state)
{
	struct message_context context;

	(void)state;
	(void)with("retry", text("2"));
	assert_int_equal(stub.request.retry_count, 2);
	(void)with("retry", text("999999"));
	assert_int_equal(stub.request.retry_count, 999999);
	context = with("retry", text("1000000"));
	assert_int_equal(stub.request.retry_count, 0);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_RETRY], 1);
	context = with("retry", text("2x"));
	assert_int_equal(stub.request.retry_count, 0);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_RETRY], 1);
}

static void objectives_are_numbers_of_ms_or_none(void **state)
{
	struct message_context context;

	(void)state;
	(void)with("slo-ttft", text("500"));
	assert_true(stub.request.objectives.ttft_ms == 500);
	(void)with("slo-tpot", text("12.25"));
	assert_true(stub.request.objectives.tpot_ms == 12.25);
	assert_true(stub.request.objectives.ttft_ms == 0);
	(void)with("slo-e2e", text("999999999999"));
	assert_true(stub.request.objectives.e2e_ms == 999999999999);
	context = with("slo-e2e", text("9999999999999"));
	assert_true(stub.request.objectives.e2e_ms == 0);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_SLO_E2E], 1);
	context = with("slo-ttft", text("1.2.3"));
	assert_true(stub.request.objectives.ttft_ms == 0);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_SLO_TTFT], 1);
	context = with("slo-tpot", text("-1"));
	assert_true(stub.request.objectives.tpot_ms == 0);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_SLO_TPOT], 1);
}

static void a_priority_comes_as_the_client_put_it(void **state)
{
	struct message_context context;

	(void)state;
	(void)with("prio", text("batch"));
	assert_int_equal(stub.request.priority.len, 5);
	context = with("prio", value_int64(7));
	assert_null(stub.request.priority.at);
	assert_int_equal(context.counters.bad_route_arguments[ROUTE_PRIORITY], 1);
}

static void the_body_is_as_long_as_announced_or_as_seen(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	(void)with("blen", value_int64(500));
	assert_int_equal(stub.request.body_bytes, 500);
	assert_int_equal(stub.request.body_total, 500);
	(void)with("bsize", value_int64(700));
	assert_int_equal(stub.request.body_bytes, 0);
	assert_int_equal(stub.request.body_total, 700);
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put(&notify, "blen", value_int64(500));
	put(&notify, "bsize", value_int64(0));
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_int_equal(stub.request.body_total, 500);
}

static void of_a_repeated_argument_the_last_counts(void **state)
{
	struct message_context context = stub_context();

	(void)state;
	notify_start(&notify);
	put_message(&notify, CONTRACT_ROUTE);
	put_text(&notify, "id", "u1");
	put_text(&notify, "id", "u2");
	assert_int_equal(run(&context, &notify, &answer).error, SPOP_NONE);
	assert_string_equal(stub.id, "u2");
}

static void arguments_have_names(void **state)
{
	(void)state;
	assert_string_equal(route_argument_name(ROUTE_VERSION), "v");
	assert_string_equal(route_argument_name(ROUTE_LADDER), "lid");
	assert_string_equal(route_argument_name(ROUTE_HASH), "hash");
	assert_string_equal(first_argument_name(FIRST_STATUS), "st");
}

int main(void)
{
	const struct CMUnitTest routes[] = {
		cmocka_unit_test(the_message_of_the_reference_is_read),
		cmocka_unit_test(headers_come_by_their_names),
		cmocka_unit_test(more_headers_than_there_is_room_for_are_counted),
		cmocka_unit_test(all_null_is_a_decision_by_load),
		cmocka_unit_test(each_argument_of_another_type_is_counted_and_not_believed),
		cmocka_unit_test(a_prompt_length_that_is_a_word_is_none),
		cmocka_unit_test(order_does_not_matter_and_unknown_names_are_counted),
		cmocka_unit_test(hashes_stop_at_the_first_that_is_missing),
		cmocka_unit_test(no_more_hashes_than_the_ladder_has),
		cmocka_unit_test(sixty_four_hashes_are_all_taken),
		cmocka_unit_test(hashes_of_another_ladder_are_dropped_and_counted),
		cmocka_unit_test(another_contract_is_decided_by_load_and_counted),
		cmocka_unit_test(the_session_is_the_first_header_that_is_there),
		cmocka_unit_test(the_policy_says_which_session_header_counts),
		cmocka_unit_test(what_a_client_says_of_its_tries_is_read),
		cmocka_unit_test(a_session_of_more_than_256_bytes_is_none),
		cmocka_unit_test(a_tenant_is_a_number_in_hex_or_a_name),
		cmocka_unit_test(bytes_are_as_good_as_text),
		cmocka_unit_test(the_trusted_strategy_wins),
		cmocka_unit_test(retries_are_a_small_number_or_none),
		cmocka_unit_test(objectives_are_numbers_of_ms_or_none),
		cmocka_unit_test(a_priority_comes_as_the_client_put_it),
		cmocka_unit_test(the_body_is_as_long_as_announced_or_as_seen),
		cmocka_unit_test(of_a_repeated_argument_the_last_counts),
		cmocka_unit_test(arguments_have_names),
	};

	return cmocka_run_group_tests(routes, NULL, NULL);
}
