/* test_prefix_told.c - what other agents know of a holder's chains: as old as it is, and never at
 * the cost of what we know better. Proves R050, R054, R055. */
#include "tests/policies/state/held.h"

static const usec_t noon = 5000 * SECOND;

static bool learn(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t at, usec_t now)
{
	return prefix_index_learn(bench.index, holder, chain_of(prompt), blocks, &bench.ladder, at,
	                          now);
}

static uint32_t unlearn(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t at, usec_t now)
{
	return prefix_index_unlearn(bench.index, holder, chain_of(prompt), blocks, at, now);
}

static void what_another_confirmed_is_found_here(void **state)
{
	(void)state;
	assert_true(learn(ANNA, 1, CHAIN, noon, noon));
	assert_int_equal(held(ANNA, 1, CHAIN, noon), CHAIN);
	/* Confirmed: it outlives the time of a provisional one. */
	assert_int_equal(held(ANNA, 1, CHAIN, noon + 100 * SECOND), CHAIN);
}

static void it_lives_from_when_it_was_confirmed_not_from_when_it_was_heard(void **state)
{
	(void)state;
	assert_true(learn(ANNA, 1, CHAIN, noon - 500 * SECOND, noon));
	assert_int_equal(held(ANNA, 1, CHAIN, noon + 99 * SECOND), CHAIN);
	assert_int_equal(held(ANNA, 1, CHAIN, noon + 101 * SECOND), 0);
	assert_false(learn(BERT, 1, CHAIN, noon - 601 * SECOND, noon));
	assert_int_equal(held(BERT, 1, CHAIN, noon), 0);
}

static void an_age_beyond_the_start_of_the_clock_is_an_age_all_the_same(void **state)
{
	const usec_t now = 5 * SECOND;

	(void)state;
	assert_true(learn(ANNA, 1, CHAIN, now - 500 * SECOND, now));
	assert_int_equal(held(ANNA, 1, CHAIN, now + 99 * SECOND), CHAIN);
	assert_int_equal(held(ANNA, 1, CHAIN, now + 101 * SECOND), 0);
	assert_false(learn(ANNA, 2, CHAIN, now - 1000000 * SECOND, now));
	assert_int_equal(unlearn(ANNA, 1, CHAIN, now - 1000000 * SECOND, now), 0);
}

static void a_late_word_does_not_make_a_record_older(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, noon);
	assert_true(learn(ANNA, 1, CHAIN + 2, noon - 300 * SECOND, noon + SECOND));
	assert_int_equal(held(ANNA, 1, CHAIN + 2, noon + 299 * SECOND), CHAIN + 2);
	assert_int_equal(held(ANNA, 1, CHAIN + 2, noon + 599 * SECOND), CHAIN);
}

static void what_is_provisional_here_is_confirmed_by_it(void **state)
{
	(void)state;
	bind(ANNA, 1, CHAIN, noon);
	assert_true(learn(ANNA, 1, CHAIN, noon - SECOND, noon + SECOND));
	assert_int_equal(held(ANNA, 1, CHAIN, noon + 100 * SECOND), CHAIN);
}

static void a_budget_keeps_what_is_fresher(void **state)
{
	(void)state;
	replace_index(made(1024, 20 * 1000));
	confirm(ANNA, 1, CHAIN, noon);
	confirm(ANNA, 2, CHAIN, noon + SECOND);
	assert_false(learn(ANNA, 3, CHAIN, noon - SECOND, noon + 2 * SECOND));
	assert_int_equal(held(ANNA, 1, CHAIN, noon + 2 * SECOND), CHAIN);
	assert_int_equal(held(ANNA, 3, CHAIN, noon + 2 * SECOND), 0);
	/* By the rules of age: the oldest goes. */
	assert_true(learn(ANNA, 3, CHAIN, noon + 2 * SECOND, noon + 2 * SECOND));
	assert_int_equal(held(ANNA, 1, CHAIN, noon + 2 * SECOND), 0);
	assert_int_equal(held(ANNA, 2, CHAIN, noon + 2 * SECOND), CHAIN);
	/* What is there needs no room. */
	bind(ANNA, 3, CHAIN + 1, noon + 2 * SECOND);
	assert_true(learn(ANNA, 3, CHAIN + 1, noon - 9 * SECOND, noon + 2 * SECOND));
}

/* A store that began anew is told all of it once more: the order in which things go stays. */
static void what_is_known_is_not_made_fresher(void **state)
{
	(void)state;
	replace_index(made(1024, 20 * 1000));
	confirm(ANNA, 1, CHAIN, noon);
	confirm(ANNA, 2, CHAIN, noon + 10 * SECOND);
	assert_false(learn(ANNA, 1, CHAIN, noon + SECOND / 2, noon + 20 * SECOND));
	assert_false(learn(ANNA, 1, 4, noon, noon + 20 * SECOND));
	confirm(ANNA, 3, CHAIN, noon + 20 * SECOND);
	assert_int_equal(held(ANNA, 1, CHAIN, noon + 20 * SECOND), 0);
	assert_int_equal(held(ANNA, 2, CHAIN, noon + 20 * SECOND), CHAIN);
	/* A later word is news, and so is one of more blocks. */
	assert_true(learn(ANNA, 2, CHAIN, noon + 12 * SECOND, noon + 20 * SECOND));
	replace_index(made(1024, 20 * 1000));
	confirm(ANNA, 1, 4, noon);
	assert_true(learn(ANNA, 1, CHAIN, noon, noon));
	assert_int_equal(held(ANNA, 1, CHAIN, noon), CHAIN);
}

static uint32_t confirmed(uint32_t holder, uint64_t prompt, usec_t now)
{
	return prefix_index_confirmed(bench.index, holder, chain_of(prompt), CHAIN, now);
}

static void what_is_confirmed_reaches_from_the_root_to_where_it_is_not(void **state)
{
	(void)state;
	assert_int_equal(confirmed(ANNA, 1, noon), 0);
	confirm(ANNA, 1, CHAIN, noon);
	assert_int_equal(confirmed(ANNA, 1, noon), CHAIN);
	assert_int_equal(confirmed(BERT, 1, noon), 0);
	confirm(ANNA, 1, 4, noon + 300 * SECOND);
	assert_int_equal(confirmed(ANNA, 1, noon + 601 * SECOND), 4);
	bind(BERT, 1, CHAIN, noon);
	assert_int_equal(confirmed(BERT, 1, noon), 0);
	confirm(BERT, 1, 2, noon);
	assert_int_equal(confirmed(BERT, 1, noon), 2);
	prefix_index_forget(bench.index, ANNA);
	assert_int_equal(confirmed(ANNA, 1, noon + 300 * SECOND), 0);
}

static void a_full_table_keeps_what_is_fresher(void **state)
{
	(void)state;
	replace_index(made(20, 1e9));
	confirm(ANNA, 1, CHAIN, noon);
	confirm(ANNA, 2, CHAIN, noon);
	assert_false(learn(BERT, 3, CHAIN, noon - SECOND, noon + SECOND));
	assert_int_equal(prefix_index_held(bench.index, ANNA), 20);
	assert_true(learn(BERT, 3, CHAIN, noon + SECOND, noon + SECOND));
	assert_int_equal(held(BERT, 3, CHAIN, noon + SECOND), CHAIN);
}

static void an_eviction_takes_what_was_confirmed_before_it(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, noon);
	confirm(ANNA, 1, 4, noon + 10 * SECOND);
	assert_int_equal(unlearn(ANNA, 1, CHAIN, noon + 5 * SECOND, noon + 11 * SECOND), CHAIN - 4);
	assert_int_equal(held(ANNA, 1, CHAIN, noon + 11 * SECOND), 4);
	assert_int_equal(prefix_index_counts(bench.index).evicted_failed, CHAIN - 4);
	assert_int_equal(unlearn(ANNA, 1, CHAIN, noon + 11 * SECOND, noon + 11 * SECOND), 4);
	assert_int_equal(unlearn(BERT, 1, CHAIN, noon + 11 * SECOND, noon + 11 * SECOND), 0);
}

static void a_restart_that_we_saw_ourselves_is_not_news(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, noon);
	prefix_index_forget(bench.index, ANNA);
	confirm(ANNA, 2, CHAIN, noon + SECOND);
	assert_false(
	        prefix_index_forget_told(bench.index, ANNA, noon + 2 * SECOND, noon + 2 * SECOND));
	assert_int_equal(held(ANNA, 2, CHAIN, noon + 2 * SECOND), CHAIN);
	assert_true(prefix_index_forget_told(bench.index, ANNA, noon + 20 * SECOND,
	                                     noon + 20 * SECOND));
	assert_int_equal(held(ANNA, 2, CHAIN, noon + 20 * SECOND), 0);
	/* Somebody saw it a little later. */
	confirm(ANNA, 3, CHAIN, noon + 21 * SECOND);
	assert_false(prefix_index_forget_told(bench.index, ANNA, noon + 22 * SECOND,
	                                      noon + 22 * SECOND));
}

static void a_restart_of_one_that_held_nothing_is_remembered_too(void **state)
{
	(void)state;
	confirm(BERT, 1, CHAIN, noon);
	prefix_index_forget(bench.index, ANNA);
	confirm(ANNA, 2, CHAIN, noon + SECOND);
	assert_false(
	        prefix_index_forget_told(bench.index, ANNA, noon + 2 * SECOND, noon + 2 * SECOND));
	assert_int_equal(held(ANNA, 2, CHAIN, noon + 2 * SECOND), CHAIN);
}

static void what_was_confirmed_before_the_restart_is_not_taken_after_it(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, noon);
	prefix_index_forget(bench.index, ANNA);
	assert_false(learn(ANNA, 2, CHAIN, noon - SECOND, noon + SECOND));
	assert_true(learn(ANNA, 2, CHAIN, noon + SECOND, noon + SECOND));
}

/* Whatever comes in whatever order of age: no block without its parent. */
static void no_order_of_words_leaves_an_orphan(void **state)
{
	struct rng rng = { 5 };
	usec_t now = noon;

	(void)state;
	replace_index(made(200, 60 * 1000));
	for (int step = 0; step < 20000; step++) {
		uint64_t prompt = rng_below(&rng, 12);
		uint32_t holder = rng_below(&rng, 3);
		uint32_t blocks = 1 + rng_below(&rng, CHAIN);
		usec_t at = now - rng_below(&rng, 700) * SECOND;

		now += rng_below(&rng, 300) * MSEC;
		if (step % 4 == 0)
			confirm(holder, prompt, blocks, now);
		else if (step % 17 == 1)
			(void)unlearn(holder, prompt, CHAIN, at, now);
		else
			(void)learn(holder, prompt, blocks, at, now);
		if (step % 50 == 0)
			assert_no_orphans(holder, prompt, CHAIN, now);
		assert_true(records() <= 200);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_index, close_index)
	const struct CMUnitTest tests[] = {
		TEST(what_another_confirmed_is_found_here),
		TEST(it_lives_from_when_it_was_confirmed_not_from_when_it_was_heard),
		TEST(an_age_beyond_the_start_of_the_clock_is_an_age_all_the_same),
		TEST(a_late_word_does_not_make_a_record_older),
		TEST(what_is_provisional_here_is_confirmed_by_it),
		TEST(a_budget_keeps_what_is_fresher),
		TEST(a_full_table_keeps_what_is_fresher),
		TEST(what_is_known_is_not_made_fresher),
		TEST(what_is_confirmed_reaches_from_the_root_to_where_it_is_not),
		TEST(an_eviction_takes_what_was_confirmed_before_it),
		TEST(a_restart_that_we_saw_ourselves_is_not_news),
		TEST(a_restart_of_one_that_held_nothing_is_remembered_too),
		TEST(what_was_confirmed_before_the_restart_is_not_taken_after_it),
		TEST(no_order_of_words_leaves_an_orphan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
