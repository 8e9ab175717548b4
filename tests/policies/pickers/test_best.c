/* test_best.c - the highest score, and who is first among equals. Proves R027, R043, R045, B021. */
#include "tests/policies/hand.h"

static struct hand hand;

static size_t pick(void)
{
	return picker_best.pick(&hand.walk, NULL);
}

static void the_highest_score_always_wins(void **state)
{
	(void)state;
	hand_make(&hand, "least-request", 8);
	for (size_t i = 0; i < 8; i++) {
		hand.pool[i].score = i == 5 ? 0.9 : 0.1 * (double)i;
		hand.targets[i].chosen = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(pick(), 5);
}

static void among_equals_the_least_recently_chosen(void **state)
{
	(void)state;
	hand_make(&hand, "least-request", 4);
	for (size_t i = 0; i < 4; i++) {
		hand.pool[i].score = 0.5 + 1e-10 * (double)i;
		hand.targets[i].chosen = 10 - i;
	}
	assert_int_equal(pick(), 3);
	hand.targets[1].chosen = 0;
	assert_int_equal(pick(), 1);
	hand.pool[1].score = 0.5 - 1e-8;
	assert_int_equal(pick(), 3);
}

static void among_those_never_chosen_the_first_of_the_shuffled_pool(void **state)
{
	(void)state;
	hand_make(&hand, "least-request", 3);
	assert_int_equal(pick(), 0);
}

/* They are looked at 64 at a time. */
static void among_many_it_does_not_matter_where_one_stands(void **state)
{
	static struct target targets[150];
	static struct candidate pool[150];

	(void)state;
	hand_make(&hand, "least-request", 1);
	hand.walk.pool = pool;
	hand.walk.standing = hand.walk.count = 150;
	for (size_t i = 0; i < 150; i++) {
		targets[i].chosen = 1000 + i;
		pool[i] = (struct candidate){ .target = &targets[i], .score = 0.5 };
	}
	for (size_t i = 0; i < 150; i++) {
		pool[i].score = 0.6;
		assert_int_equal(pick(), i);
		pool[i].score = 0.5;
		targets[i].chosen = 1;
		assert_int_equal(pick(), i);
		targets[i].chosen = 2000;
	}
}

/* 10^4 decisions over 4 equals: 2500 each, since each choice makes it the most recent. */
static void equals_take_turns(void **state)
{
	uint32_t times[4] = { 0 };

	(void)state;
	hand_make(&hand, "least-request", 4);
	for (uint64_t i = 1; i <= 10000; i++) {
		size_t picked = pick();

		times[picked]++;
		hand.targets[picked].chosen = i;
	}
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(times[i], 2500);
}

static void it_is_also_called_global_best(void **state)
{
	(void)state;
	assert_ptr_equal(picker_named(SPAN("global_best")), &picker_best);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_highest_score_always_wins),
		cmocka_unit_test(among_equals_the_least_recently_chosen),
		cmocka_unit_test(among_those_never_chosen_the_first_of_the_shuffled_pool),
		cmocka_unit_test(among_many_it_does_not_matter_where_one_stands),
		cmocka_unit_test(equals_take_turns),
		cmocka_unit_test(it_is_also_called_global_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
