/* test_p2c.c - the better of two. Proves R027, R044, R045, R107; docs/strategies.md and
 * 10.9. */
#include "tests/policies/hand.h"

static struct hand hand;

static void expect(size_t count, const double *probabilities)
{
	const uint32_t draws = 50000;
	uint32_t times[HAND_MAX];

	hand_make(&hand, "power-of-two", count);
	for (size_t i = 0; i < count; i++)
		hand.pool[i].score = 1 - 0.1 * (double)i;
	hand_draw(&hand, &picker_p2c, draws, times);
	for (size_t i = 0; i < count; i++)
		expect_probability(times[i], draws, probabilities[i]);
}

static void each_rank_is_as_likely_as_the_pairs_it_wins(void **state)
{
	(void)state;
	expect(1, (double[]){ 1 });
	expect(2, (double[]){ 1, 0 });
	expect(3, (double[]){ 2 / 3.0, 1 / 3.0, 0 });
	expect(4, (double[]){ 1 / 2.0, 1 / 3.0, 1 / 6.0, 0 });
}

/* The best of 8 is in 2/8 of the pairs. */
static void a_frozen_snapshot_does_not_herd(void **state)
{
	uint32_t times[HAND_MAX];

	(void)state;
	hand_make(&hand, "power-of-two", 8);
	for (size_t i = 0; i < 8; i++)
		hand.pool[i].score = (double)i;
	hand_draw(&hand, &picker_p2c, 1000, times);
	assert_in_range(times[7], 200, 300);
}

static void the_first_pair_of_seed_1_is_2_and_3(void **state)
{
	(void)state;
	hand_make(&hand, "power-of-two", 4);
	hand.pool[3].score = 1;
	assert_int_equal(picker_p2c.pick(&hand.walk, NULL), 3);
	hand.rng.state = 1;
	hand.pool[2].score = 2;
	assert_int_equal(picker_p2c.pick(&hand.walk, NULL), 2);
}

static void a_tie_goes_to_the_less_recent_then_to_the_first_drawn(void **state)
{
	(void)state;
	hand_make(&hand, "power-of-two", 4);
	assert_int_equal(picker_p2c.pick(&hand.walk, NULL), 2);
	hand.rng.state = 1;
	hand.targets[2].chosen = 1;
	assert_int_equal(picker_p2c.pick(&hand.walk, NULL), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rank_is_as_likely_as_the_pairs_it_wins),
		cmocka_unit_test(a_frozen_snapshot_does_not_herd),
		cmocka_unit_test(the_first_pair_of_seed_1_is_2_and_3),
		cmocka_unit_test(a_tie_goes_to_the_less_recent_then_to_the_first_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
