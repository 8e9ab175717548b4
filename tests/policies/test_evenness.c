/* test_evenness.c - how evenly the recipes that draw spread requests in flight: eight
 * engines at 70 % load. Proves R109. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soft_k_choice_is_more_even_than_power_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
