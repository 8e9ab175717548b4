/* test_random.c - each as likely as the other. Proves R140. */
#include "tests/policies/hand.h"

static void all_standing_are_as_likely(void **state)
{
	static struct hand hand;
	const uint32_t draws = 50000;
	uint32_t times[HAND_MAX];

	(void)state;
	hand_make(&hand, "random", 5);
	walk_drop(&hand.walk, 1, &stage_health);
	hand.pool[0].score = 1;
	hand_draw(&hand, &picker_random, draws, times);
	for (size_t i = 0; i < 5; i++)
		expect_probability(times[i], draws, i == 1 ? 0 : 0.25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_standing_are_as_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
