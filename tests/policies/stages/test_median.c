/* test_median.c - the middle, whatever the order. */
#include "policies/stages/median.h"

#include <stdlib.h>

#include "tests/policies/hand.h"

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void of_a_few(void **state)
{
	(void)state;
	assert_true(median((double[]){ 7 }, 1) == 7);
	assert_true(median((double[]){ 7, 1 }, 2) == 4);
	assert_true(median((double[]){ 7, 1, 3 }, 3) == 3);
	assert_true(median((double[]){ 4, 4, 4, 4 }, 4) == 4);
	assert_true(median((double[]){ 1, 2, 3, 10 }, 4) == 2.5);
}

static void as_sorting_would_find_it(void **state)
{
	struct rng rng = { 11 };
	double numbers[40], sorted[40];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t n = 1 + rng_below(&rng, 40);
		size_t range = 1 + rng_below(&rng, 50);
		double expected;

		for (size_t i = 0; i < n; i++)
			numbers[i] = sorted[i] = (double)rng_below(&rng, range);
		qsort(sorted, n, sizeof(*sorted), ascending);
		expected = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
		assert_true(median(numbers, n) == expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_few),
		cmocka_unit_test(as_sorting_would_find_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
