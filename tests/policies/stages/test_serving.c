/* test_serving.c - nearly idle instances first. Proves R036, R037. */
#include "tests/policies/hand.h"

static struct hand hand;

static size_t standing(const char *strategy, int level, double below)
{
	hand_make(&hand, strategy, 3);
	hand_running(&hand, (double[]){ 0.5, 1, 4 });
	hand.walk.level = level;
	hand.entry.prefer_serving_below = below;
	hand_run(&hand, &stage_serving);
	return hand.walk.standing;
}

static void those_below_the_threshold_stand_alone(void **state)
{
	(void)state;
	assert_int_equal(standing("global-best", 1, 1), 1);
	assert_true(hand_stands(&hand, 0));
	assert_int_equal(standing("p2c", 1, 2), 2);
}

static void elsewhere_it_would_override_the_strategy(void **state)
{
	(void)state;
	assert_int_equal(standing("global-best", 2, 1), 3);
	assert_int_equal(standing("least-work", 1, 1), 3);
	assert_int_equal(standing("global-best", 1, 0), 3);
	assert_int_equal(stage_serving.when_empty[0], EMPTY_UNDO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_below_the_threshold_stand_alone),
		cmocka_unit_test(elsewhere_it_would_override_the_strategy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
