/* test_prefix_eviction.c - what goes when there is no room: tails before roots.
 * Proves B015, P064. */
#include "tests/policies/state/held.h"

static void a_budget_takes_tails_before_roots(void **state)
{
	(void)state;
	replace_index(made(1024, 100 * 1000));
	for (uint64_t prompt = 0; prompt < 11; prompt++)
		confirm(ANNA, prompt, CHAIN, prompt * SECOND);
	assert_int_equal(prefix_index_held(bench.index, ANNA), 100);
	assert_int_equal(prefix_index_counts(bench.index).evicted_budget, 10);
	for (uint64_t prompt = 1; prompt < 11; prompt++)
		assert_int_equal(held(ANNA, prompt, CHAIN, 11 * SECOND), CHAIN);
	assert_no_orphans(ANNA, 0, CHAIN, 11 * SECOND);
	prefix_index_budget(bench.index, ANNA, 95 * 1000); /* own: shows at the next insertion */
	confirm(ANNA, 11, 1, 12 * SECOND);
	assert_int_equal(prefix_index_held(bench.index, ANNA), 95);
	assert_int_equal(held(ANNA, 1, CHAIN, 12 * SECOND), 4); /* its root stays */
	prefix_index_budget(bench.index, ANNA, 0);
	for (uint64_t prompt = 20; prompt < 40; prompt++)
		confirm(ANNA, prompt, CHAIN, 13 * SECOND);
	assert_int_equal(prefix_index_held(bench.index, ANNA), 100);
}

static void a_prompt_above_the_budget_keeps_its_head(void **state)
{
	(void)state;
	replace_index(made(1024, 7 * 1000));
	confirm(ANNA, 1, CHAIN, 0);
	assert_int_equal(held(ANNA, 1, CHAIN, 0), 7);
	confirm(ANNA, 1, CHAIN, SECOND);
	assert_int_equal(held(ANNA, 1, CHAIN, SECOND), 7);
	prefix_index_budget(bench.index, ANNA, 1); /* less than a block: the root at least */
	confirm(ANNA, 2, CHAIN, SECOND);
	assert_int_equal(held(ANNA, 2, CHAIN, SECOND), 1);
}

static void a_renewed_chain_does_not_push_out_its_own_head(void **state)
{
	(void)state;
	replace_index(made(1024, 20 * 1000));
	confirm(ANNA, 1, 10, 0); /* the oldest, and then it grows */
	confirm(ANNA, 2, 10, SECOND);
	confirm(ANNA, 1, 15, 2 * SECOND);
	assert_int_equal(held(ANNA, 1, 15, 2 * SECOND), 15);
	assert_int_equal(held(ANNA, 2, 10, 2 * SECOND), 5);
}

static void a_full_table_takes_from_the_largest_until_shares_are_even(void **state)
{
	(void)state;
	replace_index(made(100, 1e9));
	for (uint64_t prompt = 0; prompt < 11; prompt++)
		confirm(ANNA, prompt, CHAIN, prompt * SECOND);
	assert_int_equal(records(), 100);
	assert_int_equal(prefix_index_counts(bench.index).evicted_full, 10);
	for (uint64_t prompt = 1; prompt < 11; prompt++)
		assert_int_equal(held(ANNA, prompt, CHAIN, 11 * SECOND), CHAIN);
	assert_no_orphans(ANNA, 0, CHAIN, 11 * SECOND);
	for (uint64_t prompt = 100; prompt < 120; prompt++)
		confirm(BERT, prompt, CHAIN, 12 * SECOND);
	assert_int_equal(prefix_index_held(bench.index, ANNA), 50);
	assert_int_equal(prefix_index_held(bench.index, BERT), 50);
	assert_int_equal(held(BERT, 119, CHAIN, 12 * SECOND), CHAIN);
}

static void expired_tails_go_when_something_new_comes(void **state)
{
	(void)state;
	confirm(ANNA, 1, 4, 0);
	confirm(ANNA, 2, 1, 700 * SECOND);
	assert_int_equal(records(), 1);
	assert_int_equal(prefix_index_counts(bench.index).evicted_expired, 4);
}

/* Property: binding, confirming and pressure of any kind leave no block without its parent. */
static void no_block_is_without_its_parent(void **state)
{
	struct rng rng = { 9 };
	usec_t now = 0;

	(void)state;
	replace_index(made(300, 60 * 1000));
	for (int i = 0; i < 20000; i++) {
		uint32_t holder = (uint32_t)(rng_next(&rng) % HOLDERS);
		uint64_t prompt = rng_next(&rng) % 40;
		uint32_t blocks = 1 + (uint32_t)(rng_next(&rng) % 30);

		now += rng_next(&rng) % (10 * MSEC); /* nothing expires */
		if (rng_next(&rng) % 2)
			bind(holder, prompt, blocks, now);
		else
			confirm(holder, prompt, blocks, now);
		if (rng_next(&rng) % 500 == 0)
			prefix_index_forget(bench.index, (uint32_t)(rng_next(&rng) % HOLDERS));
		if (i % 20 == 0)
			for (prompt = 0; prompt < 40; prompt++)
				assert_no_orphans(holder, prompt, 31, now);
		assert_true(records() <= 300);
	}
	assert_true(prefix_index_counts(bench.index).evicted_full > 0);
	assert_true(prefix_index_counts(bench.index).evicted_budget > 0);
}

static void at_twice_its_capacity_recent_prompts_match_from_their_head(void **state)
{
	enum { CAPACITY = 1u << 16, PROMPTS = 2 * CAPACITY / 32 };
	uint32_t whole = 0;

	(void)state;
	replace_index(made(CAPACITY, 1e12));
	for (uint64_t prompt = 0; prompt < PROMPTS; prompt++)
		confirm((uint32_t)(prompt % HOLDERS), prompt, 32, prompt * MSEC);
	for (uint64_t prompt = 0; prompt < PROMPTS; prompt++) {
		uint32_t holder = (uint32_t)(prompt % HOLDERS);

		whole += held(holder, prompt, 32, PROMPTS * MSEC) == 32;
		assert_no_orphans(holder, prompt, 32, PROMPTS * MSEC);
		if (prompt >= PROMPTS / 2 + HOLDERS)
			assert_int_equal(held(holder, prompt, 32, PROMPTS * MSEC), 32);
	}
	assert_true(whole >= PROMPTS / 2 - HOLDERS);
	assert_int_equal(records(), CAPACITY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_index, close_index)

int main(void)
{
	const struct CMUnitTest eviction[] = {
		TEST(a_budget_takes_tails_before_roots),
		TEST(a_prompt_above_the_budget_keeps_its_head),
		TEST(a_renewed_chain_does_not_push_out_its_own_head),
		TEST(a_full_table_takes_from_the_largest_until_shares_are_even),
		TEST(expired_tails_go_when_something_new_comes),
		TEST(no_block_is_without_its_parent),
		TEST(at_twice_its_capacity_recent_prompts_match_from_their_head),
	};

	return cmocka_run_group_tests(eviction, NULL, NULL);
}
