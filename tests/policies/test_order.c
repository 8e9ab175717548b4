/* test_order.c - what comes before what, as two-level routing wants it. Proves R030, R057. */
#include "tests/policies/world.h"

/* Those that drop; measuring drops nobody. */
static void the_stages_have_one_order(void **state)
{
	static const struct stage *const order[] = {
		&stage_collect,   &stage_health, &stage_affinity, &stage_prefix,
		&stage_admission, &stage_share,  &stage_score,
	};
	size_t last = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(order); i++) {
		size_t place = last;

		while (pipeline_stage(place) && pipeline_stage(place) != order[i])
			place++;
		assert_ptr_equal(pipeline_stage(place), order[i]);
		last = place + 1;
	}
}

static struct decision ask(struct world *world)
{
	return world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
}

/* Constraints over the prefix, the prefix over load, load over nothing but the last resort. */
static void constraints_then_the_prefix_then_load_then_anybody(void **state)
{
	struct world *world = world_new(1, 3);
	struct decision decision;
	char holder[8];

	(void)state;
	world_strategy(world, "soft-k-choice");
	world_entry(world)->seed_idle = false;
	world_entry(world)->admit.running = 2;
	decision = ask(world);
	snprintf(holder, sizeof(holder), "%s", server_of(&decision));
	decision = ask(world);
	expect_server(&decision, holder); /* though it is the only one with work */
	assert_int_equal(decision.reason, REASON_PREFIX);
	world_busy(world, "a", holder, 3); /* 5: the relaxed limit */
	decision = ask(world);
	assert_string_not_equal(server_of(&decision), holder);
	assert_int_equal(decision.reason, REASON_SPILL);
	for (size_t i = 0; i < 3; i++)
		world->servers[i].up = strcmp(world->names[i][1], holder) != 0 &&
		                       strcmp(world->names[i][1], server_of(&decision)) != 0;
	world_apply(world);
	decision = ask(world); /* both who hold it are down */
	assert_true(decision.replica->up);
	assert_int_equal(decision.reason, REASON_LOAD);
	for (size_t i = 0; i < 3; i++)
		world->servers[i].up = false;
	world_apply(world);
	decision = ask(world);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stages_have_one_order),
		cmocka_unit_test(constraints_then_the_prefix_then_load_then_anybody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
