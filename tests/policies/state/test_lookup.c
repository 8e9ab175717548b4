/* test_lookup.c - an index of somebody else's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/lookup.h"
#include "tests/failing_calloc.h"

static uint32_t seen(const struct lookup *lookup, uint64_t hash)
{
	uint32_t at = 0;
	uint32_t place;
	uint32_t mask = 0;

	while (lookup_next(lookup, hash, &at, &place))
		mask |= 1u << place;
	return mask;
}

static void every_place_of_a_hash_is_offered(void **state)
{
	struct lookup *lookup = lookup_new(4);

	(void)state;
	assert_non_null(lookup);
	assert_int_equal(seen(lookup, 7), 0);
	lookup_add(lookup, 7, 1);
	lookup_add(lookup, 7, 0);
	lookup_add(lookup, 6, 2);
	lookup_add(lookup, 7, 3);
	assert_int_equal(seen(lookup, 7) & 11, 11);
	assert_int_equal(seen(lookup, 6) & 4, 4);
	lookup_clear(lookup);
	assert_int_equal(seen(lookup, 7), 0);
	lookup_add(lookup, 7, 2);
	assert_int_equal(seen(lookup, 7), 4);
	lookup_free(lookup);
}

static void without_memory_there_is_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(lookup_new(4));
	}
	assert_int_equal(failing, 0);
	lookup_free(NULL);
}

int main(void)
{
	const struct CMUnitTest lookup[] = {
		cmocka_unit_test(every_place_of_a_hash_is_offered),
		cmocka_unit_test(without_memory_there_is_none_and_no_leak),
	};

	return cmocka_run_group_tests(lookup, NULL, NULL);
}
