/* test_imbalance.c - the gate and the sigma filter. Proves R151. */
#include "tests/policies/hand.h"

static struct hand hand;

static void with(const char *strategy, const double *running, size_t count)
{
	hand_make(&hand, strategy, count);
	hand_running(&hand, running);
}

static void expect_standing(size_t expected)
{
	hand_run(&hand, &stage_imbalance);
	assert_int_equal(hand.walk.standing, expected);
}

static void the_gate_leaves_the_least_loaded(void **state)
{
	(void)state;
	with("least-request", (double[]){ 12, 3, 4, 3 }, 4);
	expect_standing(2);
	assert_true(hand.walk.gated && hand_stands(&hand, 1) && hand_stands(&hand, 3));
	with("least-request", (double[]){ 9, 1 }, 2);
	expect_standing(1);
	assert_true(hand_stands(&hand, 1));
}

static void it_fires_on_a_wide_gap_over_the_others_only(void **state)
{
	(void)state;
	with("least-request", (double[]){ 10, 3, 4, 3 }, 4);
	expect_standing(4);
	with("least-request", (double[]){ 12, 6, 7, 4 }, 4);
	expect_standing(4);
	assert_false(hand.walk.gated);
	with("least-request", (double[]){ 100 }, 1);
	expect_standing(1);
}

static void once_fired_it_holds_until_the_gap_has_halved(void **state)
{
	(void)state;
	with("least-request", (double[]){ 7, 3, 4, 3 }, 4);
	hand.walk.latched = true;
	expect_standing(2);
	assert_true(hand.walk.gated);
	with("least-request", (double[]){ 6, 3, 4, 3 }, 4);
	hand.walk.latched = true;
	expect_standing(4);
	assert_false(hand.walk.gated);
}

static void not_every_recipe_has_a_gate(void **state)
{
	(void)state;
	with("least-work", (double[]){ 100, 3, 4, 3 }, 4);
	expect_standing(4);
}

static void sigma_drops_who_is_far_above_the_mean(void **state)
{
	(void)state;
	with("prefix-cache", (double[]){ 2, 3, 4, 12 }, 4);
	hand.entry.gate_gap = 1000;
	expect_standing(3);
	assert_false(hand_stands(&hand, 3));
	with("prefix-cache", (double[]){ 2, 3, 4, 12 }, 4);
	hand.entry.gate_gap = 1000;
	hand.entry.sigma = 2;
	expect_standing(4);
	/* The deviation of a sample: 5.03, so up to 10.37; of all it would be 4.11. */
	with("prefix-cache", (double[]){ 0, 6, 10 }, 3);
	hand.entry.gate_gap = 1000;
	expect_standing(3);
	with("prefix-cache", (double[]){ 5, 5, 5 }, 3);
	expect_standing(3);
	with("prefix-cache", (double[]){ 2, 3, 4, 12 }, 4);
	hand.entry.gate_gap = 1000;
	hand.entry.sigma = 0;
	expect_standing(4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gate_leaves_the_least_loaded),
		cmocka_unit_test(it_fires_on_a_wide_gap_over_the_others_only),
		cmocka_unit_test(once_fired_it_holds_until_the_gap_has_halved),
		cmocka_unit_test(not_every_recipe_has_a_gate),
		cmocka_unit_test(sigma_drops_who_is_far_above_the_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
