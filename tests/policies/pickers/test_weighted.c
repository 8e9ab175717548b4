/* test_weighted.c - each as likely as its score is high. */
#include "policies/core/rng.h"
#include "tests/policies/hand.h"

static struct hand hand;

static void set_scores(const double *scores, size_t count)
{
	hand_make(&hand, "random", count);
	for (size_t i = 0; i < count; i++)
		hand.pool[i].score = scores[i];
	options_reset(picker_weighted.options, hand.entry.picker_settings);
}

static void expect(const double *probabilities, size_t count)
{
	const uint32_t draws = 50000;
	uint32_t times[HAND_MAX];

	hand_draw(&hand, &picker_weighted, draws, times);
	for (size_t i = 0; i < count; i++)
		expect_probability(times[i], draws, probabilities[i]);
}

static void each_as_likely_as_its_score_is_high(void **state)
{
	(void)state;
	set_scores((double[]){ 1, 2, 1 }, 3);
	expect((double[]){ 0.25, 0.5, 0.25 }, 3);
}

static void score_0_is_never_taken_unless_all_are_0(void **state)
{
	(void)state;
	set_scores((double[]){ 0, 3 }, 2);
	expect((double[]){ 0, 1 }, 2);
	set_scores((double[]){ 0, 0 }, 2);
	expect((double[]){ 0.5, 0.5 }, 2);
}

/* Keys -0.836006, -0.684781, -3.540554. */
static void the_draw_of_seed_1(void **state)
{
	struct rng rng = { 1 };

	(void)state;
	set_scores((double[]){ 1, 2, 1 }, 3);
	hand.walk.rng = &rng;
	assert_int_equal(picker_weighted.pick(&hand.walk, hand.entry.picker_settings), 1);
	/* One number each was drawn. */
	expect_close(rng_unit(&rng), 0.444359);
}

static void gamma_makes_the_best_likelier(void **state)
{
	struct error error = { "" };

	(void)state;
	set_scores((double[]){ 1, 2 }, 2);
	assert_true(option_set_number(option_named(picker_weighted.options, SPAN("gamma")),
	                              hand.entry.picker_settings, 2, &error));
	expect((double[]){ 0.2, 0.8 }, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_as_likely_as_its_score_is_high),
		cmocka_unit_test(score_0_is_never_taken_unless_all_are_0),
		cmocka_unit_test(the_draw_of_seed_1),
		cmocka_unit_test(gamma_makes_the_best_likelier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
