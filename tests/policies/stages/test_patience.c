/* test_patience.c - a client that says how long it waits goes where it is in time, or is
 * told at once that nobody is. Proves B045. */
#include "tests/policies/world.h"

static struct world *world;

static uint32_t id_of(const char *server)
{
	return world_replica(world, "a", server)->target->id;
}

/* Nine answers of 0.05 s + 1 s for each 1000 tokens: a line of its own. */
static void teach(const char *server)
{
	for (int i = 0; i < 9; i++)
		(void)ttft_fit_add(world->facts->ttft_fits, world_instance(world, "a"),
		                   id_of(server), 1000.0 * i, 0.05 + i);
}

static int begin(void **state)
{
	(void)state;
	world = world_new(1, 3);
	world_strategy(world, "least-request");
	for (int i = 1; i <= 3; i++) {
		char name[4];

		snprintf(name, sizeof(name), "s%d", i);
		teach(name);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

/* So many tokens wait there. */
static void queue(const char *server, uint32_t tokens)
{
	(void)ledger_acquire(world->facts->ledger, id_of(server), tokens, tokens, world->now);
}

static struct decision with_patience(double seconds)
{
	struct request request = world_ask(world);

	request.patience_ms = 1000 * seconds;
	return world_decide(world, request);
}

/* s3 runs most, but only there it takes no longer than 4 s. */
static void it_goes_where_it_is_in_time(void **state)
{
	struct decision decision;

	(void)state;
	queue("s1", 5000);
	queue("s2", 4000);
	queue("s3", 1000);
	queue("s3", 1000);
	decision = with_patience(0);
	assert_string_not_equal(server_of(&decision), "s3");
	decision = with_patience(4);
	expect_server(&decision, "s3");
	/* 4.05 s at s2 */
	decision = with_patience(4.06);
	expect_server(&decision, "s2");
}

static void nobody_in_time_is_a_refusal(void **state)
{
	struct decision decision;

	(void)state;
	queue("s1", 8000);
	queue("s2", 7000);
	queue("s3", 9000);
	decision = with_patience(4);
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.status, 429);
	assert_int_equal(decision.reason, REASON_DEADLINE);
	/* 7.05 - 4 s of the least late */
	assert_int_equal(decision.retry_after, 4);
	assert_int_equal(with_patience(8).outcome, OUTCOME_ROUTED);
	assert_int_equal(with_patience(600).outcome, OUTCOME_ROUTED);
	world->policy.reject_on_overload = false;
	assert_int_equal(with_patience(4).outcome, OUTCOME_ROUTED);
}

/* Where nothing waits no other place is better, and what is only guessed refuses nobody. */
static void an_idle_one_and_an_unknown_one_are_asked(void **state)
{
	struct request request = world_ask_long(world, 40000, 0, 0, 1);
	struct decision decision;

	(void)state;
	queue("s1", 8000);
	queue("s2", 8000);
	request.patience_ms = 1000;
	decision = world_decide(world, request);
	expect_server(&decision, "s3");
	queue("s3", 8000);
	ttft_fits_forget(world->facts->ttft_fits, id_of("s3"));
	decision = with_patience(1);
	expect_server(&decision, "s3");
}

/* A holder of the prompt that would be too late is left for another. */
static void a_session_is_left_for_its_patience(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	world_strategy(world, "session-affinity");
	request.session = SPAN("s-1");
	decision = world_decide(world, request);
	expect_server(&decision, "s1");
	queue("s1", 5000);
	request = world_ask(world);
	request.session = SPAN("s-1");
	request.patience_ms = 4000;
	decision = world_decide(world, request);
	assert_string_not_equal(server_of(&decision), "s1");
	assert_int_equal(decision.reason, REASON_SPILL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_goes_where_it_is_in_time),
		TEST(nobody_in_time_is_a_refusal),
		TEST(an_idle_one_and_an_unknown_one_are_asked),
		TEST(a_session_is_left_for_its_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
