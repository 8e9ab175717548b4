/* test_pipeline.c - from a request to an instance and a replica of it. Proves R001, R002, R004,
 * R009, R020, R030, R039, R176, B023, P056. */
#include "tests/policies/world.h"

static struct world *world;

static int begin(void **state)
{
	(void)state;
	world = world_new(1, 4);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static void a_request_gets_an_instance_a_replica_and_a_slot(void **state)
{
	struct decision decision = world_decide(world, world_ask(world));

	(void)state;
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_LOAD);
	assert_string_equal(decision.instance->name, "a");
	assert_non_null(decision.replica);
	assert_true(decision.slot);
	assert_int_equal(decision.sequence, 1);
	assert_true(ledger_running(world->facts->ledger, decision.replica->target->id,
	                           world->now) == 1);
	assert_true(ledger_running(world->facts->ledger, decision.instance->target->id,
	                           world->now) == 1);
	assert_int_equal(decision.replica->target->chosen, 1);
	assert_int_equal(inflight_count(world->facts->inflight), 1);
}

static void idle_replicas_take_turns(void **state)
{
	uint32_t seen[64 + WORLD_SERVERS_MAX] = { 0 };

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct request request = world_ask(world);
		struct decision decision = world_decide(world, request);

		seen[decision.replica->target->id]++;
		world_end(world, request.id);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(seen[world_instance(world, "a")->replicas[i].target->id], 10);
}

static void a_burst_spreads_evenly_since_every_choice_is_seen_by_the_next(void **state)
{
	(void)state;
	world_strategy(world, "least-request");
	for (int i = 0; i < 256; i++)
		assert_true(world_decide(world, world_ask(world)).slot);
	assert_true(world_running(world, "a", "s1") == 64);
	assert_true(world_running(world, "a", "s2") == 64);
	assert_true(world_running(world, "a", "s3") == 64);
	assert_true(world_running(world, "a", "s4") == 64);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_gets_an_instance_a_replica_and_a_slot),
		TEST(idle_replicas_take_turns),
		TEST(a_burst_spreads_evenly_since_every_choice_is_seen_by_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
