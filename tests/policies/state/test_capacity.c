/* test_capacity.c - an engine's speed. Proves R147 and B031 in part. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/capacity.h"

static void assert_capacity(const struct capacity *capacity, double rate, double running)
{
	assert_true(capacity->known);
	assert_true(fabs(capacity->rate - rate) < 1e-6);
	assert_true(fabs(capacity->running - running) < 1e-6);
}

static void it_rises_with_a_peak_and_falls_only_under_load(void **state)
{
	struct capacity capacity = { 0 };

	(void)state;
	capacity_add(&capacity, 700, 0.99, 10);
	assert_false(capacity.known);
	capacity_add(&capacity, 800, 4, 10);
	assert_capacity(&capacity, 800, 4);
	capacity_add(&capacity, 1200, 8, 10);
	assert_capacity(&capacity, 1052.848224, 6.528482);
	capacity_add(&capacity, 300, 2, 10);
	assert_capacity(&capacity, 1052.848224, 6.528482);
	capacity_add(&capacity, 400, 9, 10);
	assert_capacity(&capacity, 952.624090, 6.528482);
	capacity_add(&capacity, 0, 0.5, 10);
	assert_capacity(&capacity, 952.624090, 6.528482);
}

/* Four fifths of what it was seen with is load enough. */
static void it_falls_from_four_fifths_on(void **state)
{
	struct capacity capacity = { true, 1000, 10 };

	(void)state;
	capacity_add(&capacity, 400, 7.9, 60);
	assert_capacity(&capacity, 1000, 10);
	capacity_add(&capacity, 400, 8, 60);
	assert_capacity(&capacity, 1000 - 600 * (1 - exp(-1)), 10);
}

static void a_few_requests_do_not_show_what_an_engine_can_do(void **state)
{
	struct capacity capacity = { 0 };
	double rate = -1;

	(void)state;
	assert_false(capacity_shown(&capacity, &rate));
	capacity_add(&capacity, 500, 3.99, 10);
	assert_false(capacity_shown(&capacity, &rate));
	assert_true(rate < 0);
	/* More of them raise the rate, and with it the number they were seen with. */
	capacity_add(&capacity, 600, 5, 10);
	assert_true(capacity_shown(&capacity, &rate));
	assert_true(fabs(rate - (500 + 100 * (1 - exp(-1)))) < 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_rises_with_a_peak_and_falls_only_under_load),
		cmocka_unit_test(a_few_requests_do_not_show_what_an_engine_can_do),
		cmocka_unit_test(it_falls_from_four_fifths_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
