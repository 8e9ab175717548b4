/* test_rank_counts.c - what HAProxy counts for a server, among its ranks. Proves B066. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "spoa/observe/rank_counts.h"

static void expect(const uint32_t *ours, uint32_t counted, const uint32_t *expected)
{
	uint32_t got[4];

	rank_counts(ours, 4, counted, got);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(got[i], expected[i]);
}

static void what_is_ours_stays_where_it_is(void **state)
{
	(void)state;
	expect((uint32_t[]){ 3, 0, 1, 2 }, 6, (uint32_t[]){ 3, 0, 1, 2 });
}

static void what_is_more_is_everybodys(void **state)
{
	(void)state;
	expect((uint32_t[]){ 3, 0, 1, 2 }, 12, (uint32_t[]){ 5, 2, 2, 3 });
}

static void what_is_less_is_taken_from_who_has_some(void **state)
{
	(void)state;
	expect((uint32_t[]){ 3, 0, 1, 2 }, 0, (uint32_t[]){ 0, 0, 0, 0 });
	expect((uint32_t[]){ 3, 0, 1, 2 }, 3, (uint32_t[]){ 2, 0, 0, 1 });
	expect((uint32_t[]){ 9, 1, 1, 1 }, 4, (uint32_t[]){ 4, 0, 0, 0 });
}

static void they_always_sum_up(void **state)
{
	struct rng rng = { 7 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t ranks = 1 + (uint32_t)rng_below(&rng, 8), ours[8], got[8], counted,
		         sum = 0;

		for (uint32_t k = 0; k < ranks; k++)
			ours[k] = (uint32_t)rng_below(&rng, 6);
		counted = (uint32_t)rng_below(&rng, 40);
		rank_counts(ours, ranks, counted, got);
		for (uint32_t k = 0; k < ranks; k++)
			sum += got[k];
		assert_int_equal(sum, counted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_ours_stays_where_it_is),
		cmocka_unit_test(what_is_more_is_everybodys),
		cmocka_unit_test(what_is_less_is_taken_from_who_has_some),
		cmocka_unit_test(they_always_sum_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
