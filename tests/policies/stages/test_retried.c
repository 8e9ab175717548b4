/* test_retried.c - not where it was tried before, nor where the client must not go.
 * Proves B006, B045. */
#include "tests/policies/sent.h"

static struct world *world;

static int begin(void **state)
{
	(void)state;
	world = world_new(1, 3);
	world_strategy(world, "least-request");
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static struct request prompt_of_tenant(const char *tenant)
{
	struct request request = world_ask_long(world, LONG, LONG, 7, 7);

	request.tenant = SPAN(tenant);
	return request;
}

/* Decided, and ended so. */
static struct sent try(const char *tenant, const char *termination, int status)
{
	struct sent sent = send_to(world, prompt_of_tenant(tenant));

	(void)ends(&sent, termination, status);
	return sent;
}

/* Where the retry of this tenant's prompt goes; the others are busier. */
static uint32_t retry(const char *tenant, uint32_t count, uint32_t last)
{
	struct request request = prompt_of_tenant(tenant);
	struct decision decision;

	for (uint32_t i = 0; i < 3; i++) {
		const struct replica *replica = &world_instance(world, "a")->replicas[i];

		for (int n = 0; n < 100 && replica->target->id != last; n++)
			(void)ledger_acquire(world->facts->ledger, replica->target->id, 0, 0,
			                     world->now);
	}
	request.retry_count = count;
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	return decision.replica->target->id;
}

static void a_retry_avoids_who_failed(void **state)
{
	struct sent sent = try("acme", "SH--", 502);

	(void)state;
	assert_int_equal(retry("acme", 0, sent.chosen), sent.chosen);
	assert_int_not_equal(retry("acme", 1, sent.chosen), sent.chosen);
}

/* A client that gave up waiting is tried elsewhere, too. */
static void a_retry_avoids_who_was_given_up(void **state)
{
	struct sent sent = try("acme", "CH--", -1);

	(void)state;
	assert_int_not_equal(retry("acme", 2, sent.chosen), sent.chosen);
}

static void a_good_end_is_no_reason(void **state)
{
	struct sent sent = try("acme", "----", 200);

	(void)state;
	assert_int_equal(retry("acme", 1, sent.chosen), sent.chosen);
}

static void anothers_try_is_no_reason(void **state)
{
	struct sent sent = try("acme", "SH--", 502);

	(void)state;
	assert_int_equal(retry("umbrella", 1, sent.chosen), sent.chosen);
}

static void a_try_is_forgotten_after_a_minute(void **state)
{
	struct sent sent = try("acme", "SH--", 502);

	(void)state;
	world->now += 60 * SECOND + 1;
	assert_int_equal(retry("acme", 1, sent.chosen), sent.chosen);
}

/* Where it was tried last counts. */
static void a_second_retry_avoids_the_second(void **state)
{
	struct sent first = try("acme", "SH--", 502);
	struct sent second = send_to(world, prompt_of_tenant("acme"));
	struct stream_end end = end_of(&second, "SH--", 502);

	(void)state;
	end.by = first.chosen == second.chosen ? second.by_other : second.by;
	(void)tell(&second, &end);
	assert_int_equal(retry("acme", 2, first.chosen), first.chosen);
}

/* What is not known of the prompt, the session's pin tells. */
static void a_retry_avoids_where_its_session_was(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;
	uint32_t first;

	(void)state;
	world_strategy(world, "session-affinity");
	request.session = SPAN("s-1");
	decision = world_decide(world, request);
	first = decision.replica->target->id;
	request = world_ask(world);
	request.session = SPAN("s-1");
	request.retry_count = 1;
	decision = world_decide(world, request);
	assert_int_not_equal(decision.replica->target->id, first);
	assert_int_equal(decision.levels[1].session.result, SESSION_GONE);
}

/* One replica: better the same again than none. */
static void where_nobody_else_stands_it_is_tried_there(void **state)
{
	struct sent sent = try("acme", "SH--", 502);

	(void)state;
	world->count = 1;
	world->servers[0] = *world_server(world, "a", "s1");
	for (size_t i = 0; i < 3; i++)
		if (world_replica(world, "a", world->names[i][1])->target->id == sent.chosen)
			world->servers[0] = (struct server_fact){ SPAN(world->names[i][0]),
				                                  SPAN(world->names[i][1]),
				                                  SPAN(world->names[i][2]),
				                                  .weight = 1, .up = true };
	world_apply(world);
	assert_int_equal(retry("acme", 1, sent.chosen), sent.chosen);
}

/* --- x-infer-exclude --------------------------------------------------------- */

static const char *without(const char *list)
{
	struct request request = world_ask(world);
	struct decision decision;

	request.exclude = SPAN(list);
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	return server_of(&decision);
}

static void who_is_excluded_gets_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_string_equal(without("s1,s3"), "s2");
		assert_string_equal(without(" s1 ,\t10.0.0.2:8000"), "s3");
		assert_string_not_equal(without("s2"), "s2");
	}
	/* Nobody is called so, and no name is a part of another. */
	world_busy(world, "a", "s1", 100);
	world_busy(world, "a", "s2", 200);
	world_busy(world, "a", "s3", 200);
	assert_string_equal(without("s, s11,,10.0.0.1:80, ,S1"), "s1");
}

static void to_exclude_all_excludes_nobody(void **state)
{
	(void)state;
	assert_string_not_equal(without("s1,s2,s3"), "");
	assert_string_not_equal(without("a"), "");
}

static int begin_two(void **state)
{
	(void)state;
	world = world_new(2, 2);
	world_strategy(world, "least-request");
	return 0;
}

/* An instance falls by its name, or with all its replicas; not with some. */
static void an_instance_can_be_excluded(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct request request = world_ask(world);
		struct decision decision;

		request.exclude = i % 2 ? SPAN("a") : SPAN("10.0.0.1:8000,10.0.0.2:8000");
		decision = world_decide(world, request);
		assert_string_equal(decision.instance->name, "b");
	}
	world_busy(world, "b", "s1", 50);
	assert_string_equal(without("10.0.0.1:8000"), "s2");
}

#define TEST(name)     cmocka_unit_test_setup_teardown(name, begin, end)
#define TEST_TWO(name) cmocka_unit_test_setup_teardown(name, begin_two, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_retry_avoids_who_failed),
		TEST(a_retry_avoids_who_was_given_up),
		TEST(a_good_end_is_no_reason),
		TEST(anothers_try_is_no_reason),
		TEST(a_try_is_forgotten_after_a_minute),
		TEST(a_second_retry_avoids_the_second),
		TEST(a_retry_avoids_where_its_session_was),
		TEST(where_nobody_else_stands_it_is_tried_there),
		TEST(who_is_excluded_gets_nothing),
		TEST(to_exclude_all_excludes_nobody),
		TEST_TWO(an_instance_can_be_excluded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
