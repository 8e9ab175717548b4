/* test_share.c - nobody above their share. Proves R038. */
#include "tests/policies/hand.h"

static struct hand hand;

static size_t standing(const double *running, size_t count, double max_share)
{
	hand_make(&hand, "least-request", count);
	hand_running(&hand, running);
	hand.entry.max_share = max_share;
	hand_run(&hand, &stage_share);
	return hand.walk.standing;
}

static void who_would_exceed_it_falls(void **state)
{
	(void)state;
	/* Of 12 with the new one, 8 would be 0.67, 5 would be 0.42. */
	assert_int_equal(standing((double[]){ 7, 4 }, 2, 0.6), 1);
	assert_false(hand_stands(&hand, 0));
	/* Just 60 % is not above it. */
	assert_int_equal(standing((double[]){ 8, 6 }, 2, 0.6), 2);
}

static void it_is_off_at_1_and_with_few_requests(void **state)
{
	(void)state;
	assert_int_equal(standing((double[]){ 70, 4 }, 2, 1), 2);
	assert_int_equal(standing((double[]){ 9, 0 }, 2, 0.6), 2);
	assert_int_equal(standing((double[]){ 10, 0 }, 2, 0.6), 1);
}

static void those_dropped_before_count_in_the_total(void **state)
{
	(void)state;
	hand_make(&hand, "least-request", 3);
	hand_running(&hand, (double[]){ 30, 5, 5 });
	hand.entry.max_share = 0.5;
	walk_drop(&hand.walk, 0, &stage_health);
	hand_run(&hand, &stage_share);
	assert_int_equal(hand.walk.standing, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_would_exceed_it_falls),
		cmocka_unit_test(it_is_off_at_1_and_with_few_requests),
		cmocka_unit_test(those_dropped_before_count_in_the_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
