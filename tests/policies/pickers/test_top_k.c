/* test_top_k.c - chance among those about as loaded as the least. Proves R142. */
#include "tests/policies/hand.h"

static struct hand hand;

static void set(const char *option, double value)
{
	struct error error = { "" };

	assert_true(option_set_number(option_named(picker_top_k.options, SPAN(option)),
	                              hand.entry.picker_settings, value, &error));
}

static void expect(const double *probabilities, size_t count)
{
	const uint32_t draws = 50000;
	uint32_t times[HAND_MAX];

	hand_draw(&hand, &picker_top_k, draws, times);
	for (size_t i = 0; i < count; i++)
		expect_probability(times[i], draws, probabilities[i]);
}

static void all_within_epsilon_of_the_least_are_as_likely(void **state)
{
	(void)state;
	hand_make(&hand, "least-request-top-k", 6);
	hand_running(&hand, (double[]){ 10, 11, 12, 13, 14, 15 });
	expect((double[]){ 0.2, 0.2, 0.2, 0.2, 0.2, 0 }, 6);
	set("epsilon", 1);
	expect((double[]){ 0.5, 0.5, 0, 0, 0, 0 }, 6);
}

static void not_more_than_k_take_part(void **state)
{
	(void)state;
	hand_make(&hand, "least-request-top-k", 4);
	hand_running(&hand, (double[]){ 3, 1, 2, 1 });
	set("k", 2);
	expect((double[]){ 0, 0.5, 0, 0.5 }, 4);
	set("k", 64);
	expect((double[]){ 0.25, 0.25, 0.25, 0.25 }, 4);
}

static void a_negative_epsilon_is_no_rule(void **state)
{
	(void)state;
	hand_make(&hand, "least-request-top-k", 3);
	hand_running(&hand, (double[]){ 0, 100, 1000 });
	set("epsilon", -1);
	set("k", 2);
	expect((double[]){ 0.5, 0.5, 0 }, 3);
}

/* A new target that ramps counts for more than it runs: 8, then 5, beside 10, 11, 12. */
static void a_ramping_target_takes_part_like_any_other(void **state)
{
	(void)state;
	hand_make(&hand, "least-request-top-k", 7);
	hand_running(&hand, (double[]){ 8, 10, 11, 12, 13, 14, 15 });
	expect((double[]){ 0.25, 0.25, 0.25, 0.25, 0, 0, 0 }, 7);
}

/* 3 on a tenth of the engine are more than 5 on the whole of it; and one without room in its
 * cache is out while others have some. */
static void load_by_capacity_can_be_what_counts(void **state)
{
	(void)state;
	hand_make(&hand, "least-request-top-k", 4);
	hand_running(&hand, (double[]){ 5, 3, 6, 0 });
	hand_capacity(&hand, 0, 1000);
	hand_capacity(&hand, 1, 100);
	hand_capacity(&hand, 2, 1000);
	hand_capacity(&hand, 3, 1000);
	hand_page(&hand, 3, -1, 0.95);
	expect((double[]){ 0, 0.5, 0, 0.5 }, 4);
	set("by", 2);
	expect((double[]){ 0.5, 0, 0.5, 0 }, 4);
	set("epsilon", -1);
	expect((double[]){ 1.0 / 3, 1.0 / 3, 1.0 / 3, 0 }, 4);
	for (size_t i = 0; i < 4; i++)
		hand_page(&hand, i, -1, 0.95);
	expect((double[]){ 0.25, 0.25, 0.25, 0.25 }, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_within_epsilon_of_the_least_are_as_likely),
		cmocka_unit_test(not_more_than_k_take_part),
		cmocka_unit_test(a_negative_epsilon_is_no_rule),
		cmocka_unit_test(load_by_capacity_can_be_what_counts),
		cmocka_unit_test(a_ramping_target_takes_part_like_any_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
