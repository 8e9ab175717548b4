/* test_capacity.c - an instance that becomes slow is found out by its answers alone. Proves
 * R007. */
#include "tests/policies/farm.h"

static struct farm farm;

/* The share of the first of two instances in so many minutes at half load. */
static double share(uint32_t minutes)
{
	usec_t end = farm.world->now + minutes * 60 * SECOND;
	double got = 0, all = 0;

	memset(farm.got, 0, sizeof(farm.got));
	while (farm.world->now < end)
		farm_step(&farm, 16);
	for (size_t i = 0; i < FARM_ENGINES; i++) {
		got += i < FARM_ENGINES / 2 ? farm.got[i] : 0;
		all += farm.got[i];
	}
	return got / all;
}

static void slow_down(double slowness)
{
	for (size_t i = 0; i < FARM_ENGINES / 2; i++)
		farm.slowness[i] = slowness;
}

static void expect_shares(const char *strategy, uint64_t seed)
{
	farm_begin(&farm, 2, strategy, seed);
	assert_true(fabs(share(5) - 0.5) < 0.1);
	slow_down(3);
	(void)share(4);
	assert_true(share(1) <= 0.35); /* in the fifth minute */
	slow_down(1);
	(void)share(2);
	assert_true(fabs(share(3) - 0.5) < 0.15); /* equals take turns of minutes */
	world_free(farm.world);
}

static void by_latency_and_load_the_slow_one_gets_less_until_it_is_fast_again(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		expect_shares("global-best", seed);
}

static void by_work_as_well(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		expect_shares("least-work", seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_latency_and_load_the_slow_one_gets_less_until_it_is_fast_again),
		cmocka_unit_test(by_work_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
