/* test_ejection.c - what takes a replica out of service, and what does not; docs/strategies.md.
 * Proves R056, R065, R069, B007, B008, P077-P079. */
#include "tests/policies/failing.h"

static const char *const servers[] = { "s1", "s2", "s3", "s4" };

static void a_good_answer_resets_the_count(void **state)
{
	(void)state;
	fails("s1", 4);
	is_ok("s1");
	fails("s1", 4);
	expect("s1", HEALTH_UP);
	fails("s1", 1);
	expect("s1", HEALTH_EJECTED);
}

static void half_of_twenty_outcomes_eject(void **state)
{
	(void)state;
	for (int i = 0; i < 9; i++) {
		is_ok("s1");
		fails("s1", 1);
	}
	is_ok("s1");
	expect("s1", HEALTH_UP); /* 9 of 19 */
	fails("s1", 1);
	expect("s1", HEALTH_EJECTED);
	assert_int_equal(counted("s1")->ejections[EJECT_SHARE], 1);
	for (int i = 0; i < 11; i++)
		is_ok("s2");
	for (int i = 0; i < 3; i++) {
		fails("s2", 3);
		is_ok("s2");
	}
	expect("s2", HEALTH_UP); /* 9 of 23 */
	/* Half of few, however long. */
	for (int i = 0; i < 100; i++) {
		at(10.0 * i);
		is_ok("s3");
		fails("s3", 1);
	}
	expect("s3", HEALTH_UP);
}

static void a_poison_prompt_ejects_nobody(void **state)
{
	(void)state;
	for (int i = 0; i < 9; i++)
		note("s1", (struct report){ .class = CLASS_FAILURE, .prompt = 7, .tenant = 1 });
	expect("s1", HEALTH_UP);
	fails("s1", 3);
	expect("s1", HEALTH_UP); /* it counted once: 4 */
	note("s1", (struct report){ .class = CLASS_FAILURE, .prompt = 7, .tenant = 2 });
	expect("s1", HEALTH_EJECTED); /* another's prompt */
}

static void a_poison_prompt_between_good_answers_ejects_nobody(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		at(i);
		note("s1", (struct report){ .class = CLASS_FAILURE, .prompt = 7, .tenant = 1 });
		if (i % 2)
			is_ok("s1");
	}
	expect("s1", HEALTH_UP);
}

static void connect_errors_always_count(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		note("s1", (struct report){ .class = CLASS_FAILURE, .connect = true, .prompt = 7 });
	expect("s1", HEALTH_EJECTED);
}

/* HAProxy tries again what was only too busy as well. */
static void what_was_tried_again_ejects_only_who_finishes_nothing(void **state)
{
	struct report report = { .class = CLASS_FAILURE, .connect = true, .retried = true };

	(void)state;
	is_ok("s1");
	for (uint64_t i = 0; i < 50; i++) {
		at(0.2 * (double)i);
		report.prompt = i + 1;
		note("s1", report);
	}
	expect("s1", HEALTH_UP);
	at(10.001);
	report.prompt = 100;
	note("s1", report);
	expect("s1", HEALTH_EJECTED);
}

static void a_hundred_bad_requests_eject_nobody(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		note("s1", (struct report){ .class = CLASS_OK, .prompt = 7, .tenant = 1 });
	expect("s1", HEALTH_UP);
}

static void bad_credentials_of_one_tenant_eject_nobody(void **state)
{
	struct report report = { .class = CLASS_DENIED, .tenant = 1 };

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		report.prompt = i + 1;
		note("s1", report);
	}
	expect("s1", HEALTH_UP);
	is_ok("s1");
	for (uint64_t i = 0; i < 4; i++) {
		report.tenant = 1 + i % 2; /* the first of them alone says nothing */
		report.prompt = 200 + i;
		note("s1", report);
		expect("s1", HEALTH_UP);
	}
	for (uint64_t i = 4; i < 6; i++) {
		report.tenant = 1 + i % 2;
		report.prompt = 200 + i;
		note("s1", report);
	}
	expect("s1", HEALTH_EJECTED);
}

static void a_busy_engine_is_left_alone_but_stays_up(void **state)
{
	(void)state;
	is_ok("s1");
	for (uint64_t i = 0; i < 50; i++)
		note("s1",
		     (struct report){ .class = CLASS_BUSY, .retry_after = 7, .prompt = i + 1 });
	expect("s1", HEALTH_UP);
	assert_true(takes("s1"));
	assert_true(health_backing_off(world->facts->health, id_of("s1"), world->now));
	at(6.999);
	assert_true(health_backing_off(world->facts->health, id_of("s1"), world->now));
	at(7);
	assert_false(health_backing_off(world->facts->health, id_of("s1"), world->now));
	/* Only who finished nothing for long is not busy but broken. */
	at(10.001);
	for (uint64_t i = 0; i < 5; i++)
		note("s1", (struct report){ .class = CLASS_BUSY, .prompt = 100 + i });
	expect("s1", HEALTH_EJECTED);
}

static void half_of_a_pool_at_most_is_ejected(void **state)
{
	(void)state;
	fails("s1", 5);
	fails("s2", 5);
	fails("s3", 5);
	expect("s1", HEALTH_EJECTED);
	expect("s2", HEALTH_EJECTED);
	expect("s3", HEALTH_UP);
	assert_int_equal(refused(), 1);
	assert_int_equal(counted("s3")->ejections[EJECT_ROW], 0);
	/* Half-open ones count: all but one request is kept from them. */
	at(20);
	probed("s1", true);
	probed("s1", true);
	fails("s3", 1);
	expect("s3", HEALTH_UP);
	assert_int_equal(refused(), 2);
	on_trial(CLASS_FAILURE); /* it is out already */
	expect("s1", HEALTH_EJECTED);
	assert_int_equal(refused(), 2);
	at(60);
	probed("s1", true);
	probed("s1", true);
	for (int i = 0; i < 3; i++)
		on_trial(CLASS_OK);
	fails("s3", 1);
	expect("s3", HEALTH_EJECTED);
}

static void who_is_down_is_not_counted_on(void **state)
{
	(void)state;
	world_server(world, "a", "s3")->up = world_server(world, "a", "s4")->up = false;
	world_apply(world);
	fails("s1", 5);
	fails("s2", 5);
	expect("s1", HEALTH_EJECTED);
	expect("s2", HEALTH_UP);
	/* HAProxy's UP does not end an ejection. */
	world_server(world, "a", "s3")->up = true;
	world_apply(world);
	expect("s1", HEALTH_EJECTED);
}

static void the_only_one_is_never_ejected(void **state)
{
	(void)state;
	for (size_t i = 1; i < 4; i++)
		world_server(world, "a", servers[i])->maintenance = true;
	world_apply(world);
	fails("s1", 50);
	expect("s1", HEALTH_UP);
	assert_int_equal(refused(), 46);
}

static void decisions_leave_out_who_is_out(void **state)
{
	(void)state;
	eject_s1();
	for (int i = 0; i < 40; i++) {
		struct decision decision = world_decide(world, world_ask(world));

		assert_string_not_equal(server_of(&decision), "s1");
	}
	at(14);
	probed("s1", true);
	probed("s1", true);
	for (int i = 0, there = 0; i < 40; i++) {
		struct decision decision = world_decide(world, world_ask(world));

		there += strcmp(server_of(&decision), "s1") == 0;
		assert_true(there <= 1);
		assert_true(i < 39 || there == 1);
	}
}

/* A holder that is out is no hit. */
static void a_holder_that_is_out_is_no_hit(void **state)
{
	struct request request = world_ask_long(world, 40000, 40000, 1, 1);
	struct decision decision = world_decide(world, request);
	char holder[8];

	(void)state;
	snprintf(holder, sizeof(holder), "%s", server_of(&decision));
	decision = world_decide(world, world_ask_long(world, 40000, 40000, 1, 1));
	expect_server(&decision, holder);
	assert_int_equal(decision.reason, REASON_PREFIX);
	fails(holder, 5);
	decision = world_decide(world, world_ask_long(world, 40000, 40000, 1, 1));
	assert_string_not_equal(server_of(&decision), holder);
	assert_int_not_equal(decision.reason, REASON_PREFIX);
}

static void where_all_are_down_it_is_a_panic(void **state)
{
	struct decision decision;
	struct request request = world_ask(world);

	(void)state;
	for (size_t i = 0; i < 4; i++)
		world_server(world, "a", servers[i])->up = false;
	world_apply(world);
	request.backend = SPAN("a");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_PANIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_answer_resets_the_count),
		TEST(half_of_twenty_outcomes_eject),
		TEST(a_poison_prompt_ejects_nobody),
		TEST(a_poison_prompt_between_good_answers_ejects_nobody),
		TEST(connect_errors_always_count),
		TEST(what_was_tried_again_ejects_only_who_finishes_nothing),
		TEST(a_hundred_bad_requests_eject_nobody),
		TEST(bad_credentials_of_one_tenant_eject_nobody),
		TEST(a_busy_engine_is_left_alone_but_stays_up),
		TEST(half_of_a_pool_at_most_is_ejected),
		TEST(who_is_down_is_not_counted_on),
		TEST(the_only_one_is_never_ejected),
		TEST(decisions_leave_out_who_is_out),
		TEST(a_holder_that_is_out_is_no_hit),
		TEST(where_all_are_down_it_is_a_panic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
