/* test_frozen.c - engines whose pages stand still hold up no decision. Proves R126. */
#include <time.h>

#include "tests/policies/world.h"

enum { REPLICAS = 64, DECISIONS = 20000, A_SECOND = 5000 };

static double cpu_seconds(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Valgrind, whose time is not ours, is loaded before us. */
static bool slowed(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}

static void pages(struct world *world)
{
	for (size_t i = 0; i < REPLICAS; i++)
		engines_put(world->facts->engines,
		            world_replica(world, "a", world->names[i][1])->target->id,
		            &(struct engine_page){ .at = world->now,
		                                   .running = (double)(i % 7),
		                                   .waiting = 0,
		                                   .kv_usage = 0.5 });
}

/* The pages are read once and never again; half a minute passes. */
static void thousands_are_decided_each_second(void **state)
{
	struct world *world = world_new(1, REPLICAS);
	double began;

	(void)state;
	world_strategy(world, "global-best");
	pages(world);
	began = cpu_seconds();
	for (uint64_t i = 0; i < DECISIONS; i++) {
		struct request request = world_ask_long(world, 20000, 8192, i % 50, i);
		struct decision decision = world_decide(world, request);

		assert_int_equal(decision.outcome, OUTCOME_ROUTED);
		assert_non_null(decision.replica);
		world_first_byte(world, request.id);
		world_end(world, request.id);
		world->now += 1500;
	}
	assert_true(slowed() || cpu_seconds() - began < DECISIONS / (double)A_SECOND);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_are_decided_each_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
