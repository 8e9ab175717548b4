/* test_evenness.c - how evenly the recipes that draw spread requests in flight: eight
 * engines at 70 % load; and what weights make of it. Proves R109, R042. */
#include "tests/policies/farm.h"

enum { REQUESTS = 40000 };

static struct farm farm;

/* Standard deviation of the requests in flight over the engines, at each arrival. */
static double deviation(const char *strategy)
{
	double sum = 0;

	farm_begin(&farm, 1, strategy, 1);
	for (uint32_t i = 0; i < REQUESTS; i++) {
		double total = 0, squares = 0;

		farm_step(&farm, 0.7 * 32);
		for (size_t e = 0; e < FARM_ENGINES; e++) {
			double running = farm_running(&farm, e);

			total += running;
			squares += running * running;
		}
		total /= FARM_ENGINES;
		sum += sqrt(squares / FARM_ENGINES - total * total);
	}
	world_free(farm.world);
	return sum / REQUESTS;
}

static void soft_k_choice_is_more_even_than_power_of_two(void **state)
{
	double soft = deviation("soft-k-choice"), two = deviation("power-of-two");

	(void)state;
	assert_true(soft <= 0.65 * two);
	assert_true(two <= 0.65 * deviation("random"));
}

/* 400 decisions without an end. */
static void weights_of_three_to_one_share_three_to_one(void **state)
{
	struct world *world = world_new(1, 2);
	int first = 0;

	(void)state;
	world->servers[0].weight = 3;
	world_apply(world);
	world_strategy(world, "least-request");
	for (int i = 0; i < 400; i++) {
		struct decision decision = world_decide(world, world_ask(world));

		first += strcmp(server_of(&decision), "s1") == 0;
	}
	assert_true(first >= 296 && first <= 304);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soft_k_choice_is_more_even_than_power_of_two),
		cmocka_unit_test(weights_of_three_to_one_share_three_to_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
