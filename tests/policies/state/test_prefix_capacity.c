/* test_prefix_capacity.c - ten million blocks through a table of one million: the
 * memory is what it was. Proves B014, P068. */
#include <sys/resource.h>

#include "tests/policies/state/held.h"

static long resident_kilobytes(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void ten_million_blocks_take_no_more_memory_than_one_million(void **state)
{
	long full;
	uint64_t prompt = 0;

	(void)state;
	replace_index(made(1000000, 1e12));
	while (prompt < 2 * 1000000 / CHAIN)
		confirm((uint32_t)(prompt % HOLDERS), prompt, CHAIN, prompt * MSEC / 100), prompt++;
	full = resident_kilobytes();
	while (prompt < 10000000 / CHAIN)
		confirm((uint32_t)(prompt % HOLDERS), prompt, CHAIN, prompt * MSEC / 100), prompt++;
	assert_true(resident_kilobytes() <= full + full / 20);
	assert_int_equal(records(), 1000000);
	for (uint64_t back = 1; back < 1000; back++)
		assert_int_equal(held((uint32_t)((prompt - back) % HOLDERS), prompt - back, CHAIN,
		                      prompt * MSEC / 100),
		                 CHAIN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_index, close_index)

int main(void)
{
	const struct CMUnitTest capacity[] = {
		TEST(ten_million_blocks_take_no_more_memory_than_one_million),
	};

	return cmocka_run_group_tests(capacity, NULL, NULL);
}
