/* test_prefix_index.c - who holds which prefix, for how long, and what goes first.
 * Proves R050 (locally), R054, R055, R056, B015, P063, P064, P068, P069, P071. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "policies/state/prefix_index.h"

enum { ANNA, BERT, CARL, HOLDERS = 8, CHAIN = 10 };

static int failing;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return failing > 0 && --failing == 0 ? NULL : __real_calloc(count, size);
}

static const struct prefix_limits limits = { .records = 1024,
	                                     .holders = HOLDERS,
	                                     .ttl = 600 * SECOND,
	                                     .provisional_ttl = 30 * SECOND,
	                                     .holder_bytes = 1e9 };

/* 64 blocks of 1000 bytes. */
static struct ladder even_ladder(void)
{
	struct ladder ladder = { .id = "64x1000", .count = 64 };

	for (uint32_t i = 0; i < ladder.count; i++) {
		ladder.offset[i] = i * 1000;
		ladder.length[i] = 1000;
	}
	return ladder;
}

struct bench {
	struct prefix_index *index;
	struct ladder ladder;
};

static struct bench bench;

static struct prefix_index *made(uint32_t records, double holder_bytes)
{
	struct prefix_limits own = limits;

	own.records = records;
	own.holder_bytes = holder_bytes;
	return prefix_index_new(&own);
}

static int open_index(void **state)
{
	(void)state;
	bench.index = prefix_index_new(&limits);
	bench.ladder = even_ladder();
	return bench.index ? 0 : -1;
}

static int close_index(void **state)
{
	(void)state;
	prefix_index_free(bench.index);
	return 0;
}

static void replace_index(struct prefix_index *index)
{
	assert_non_null(index);
	prefix_index_free(bench.index);
	bench.index = index;
}

/* A prompt of its own, CHAIN blocks long, after which others may branch. */
static const uint64_t *chain_of(uint64_t prompt)
{
	static uint64_t chain[64];
	static uint64_t last = UINT64_MAX;
	uint64_t hashes[64];

	if (prompt == last)
		return chain;
	last = prompt;
	for (uint32_t i = 0; i < 64; i++)
		hashes[i] = prompt;
	prefix_chain(7, hashes, 64, chain);
	return chain;
}

static void bind(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t now)
{
	prefix_index_bind(bench.index, holder, chain_of(prompt), blocks, &bench.ladder, now);
}

static void confirm(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t now)
{
	prefix_index_confirm(bench.index, holder, chain_of(prompt), blocks, &bench.ladder, now);
}

/* How many blocks of the prompt the holder has, from the root. */
static uint32_t held(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t now)
{
	struct prefix_match matches[HOLDERS];
	size_t count =
	        prefix_index_match(bench.index, chain_of(prompt), blocks, now, matches, HOLDERS);

	for (size_t i = 0; i < count; i++)
		if (matches[i].holder == holder)
			return matches[i].blocks;
	return 0;
}

static uint32_t records(void)
{
	return prefix_index_counts(bench.index).records;
}

static void each_holder_matches_as_far_as_it_holds(void **state)
{
	struct prefix_match matches[HOLDERS];
	size_t count;

	(void)state;
	assert_int_equal(held(ANNA, 1, CHAIN, 0), 0);
	confirm(ANNA, 1, 10, 0);
	confirm(BERT, 1, 4, 0);
	confirm(CARL, 2, 10, 0);
	count = prefix_index_match(bench.index, chain_of(1), 12, 0, matches, HOLDERS);
	assert_int_equal(count, 2);
	assert_int_equal(held(ANNA, 1, 12, 0), 10);
	assert_int_equal(held(BERT, 1, 12, 0), 4);
	assert_int_equal(held(CARL, 1, 12, 0), 0);
	assert_int_equal(held(ANNA, 1, 3, 0), 3);
	assert_int_equal(records(), 24);
	assert_int_equal(prefix_index_held(bench.index, ANNA), 10);
	assert_int_equal(prefix_index_match(bench.index, chain_of(1), 12, 0, matches, 1), 1);
	assert_int_equal(prefix_index_match(bench.index, chain_of(1), 0, 0, matches, HOLDERS), 0);
	assert_int_equal(prefix_index_capacity(bench.index), 1024);
}

static bool continued(uint64_t prompt, uint32_t blocks)
{
	struct prefix_match match = { 0 };

	assert_int_equal(prefix_index_match(bench.index, chain_of(prompt), blocks, 0, &match, 1),
	                 1);
	return match.continued;
}

static void a_match_tells_whether_others_went_on_from_there(void **state)
{
	(void)state;
	bind(ANNA, 1, 5, 0);
	assert_true(continued(1, 4));
	assert_false(continued(1, 5));
	assert_false(continued(1, 9));
	bind(ANNA, 1, 6, 0);
	assert_true(continued(1, 5));
}

static void a_provisional_binding_lasts_half_a_minute(void **state)
{
	(void)state;
	bind(ANNA, 1, CHAIN, 0);
	assert_int_equal(held(ANNA, 1, CHAIN, 29 * SECOND), CHAIN);
	assert_int_equal(held(ANNA, 1, CHAIN, 31 * SECOND), 0);
	bind(ANNA, 1, CHAIN, 31 * SECOND); /* the same records again */
	assert_int_equal(held(ANNA, 1, CHAIN, 60 * SECOND), CHAIN);
	assert_int_equal(records(), CHAIN);
}

static void a_confirmed_binding_lasts_its_time_and_a_hit_renews_it(void **state)
{
	(void)state;
	bind(ANNA, 1, CHAIN, 0);
	confirm(ANNA, 1, CHAIN, SECOND);
	assert_int_equal(held(ANNA, 1, CHAIN, 600 * SECOND), CHAIN);
	assert_int_equal(held(ANNA, 1, CHAIN, 602 * SECOND), 0);
	confirm(ANNA, 1, CHAIN, 602 * SECOND);
	bind(ANNA, 1, CHAIN, 1000 * SECOND); /* being chosen is not being confirmed */
	assert_int_equal(held(ANNA, 1, CHAIN, 1201 * SECOND), CHAIN);
	assert_int_equal(held(ANNA, 1, CHAIN, 1203 * SECOND), 0);
}

static void an_expired_record_is_provisional_when_bound_again(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, 0);
	bind(ANNA, 1, CHAIN, 700 * SECOND);
	assert_int_equal(held(ANNA, 1, CHAIN, 729 * SECOND), CHAIN);
	assert_int_equal(held(ANNA, 1, CHAIN, 731 * SECOND), 0);
}

static void each_holder_has_an_age_of_its_own(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, 0);
	for (usec_t now = 0; now <= 600; now += 60)
		confirm(BERT, 1, CHAIN, now * SECOND);
	assert_int_equal(held(ANNA, 1, CHAIN, 601 * SECOND), 0);
	assert_int_equal(held(BERT, 1, CHAIN, 601 * SECOND), CHAIN);
}

static void withdrawing_leaves_what_is_confirmed(void **state)
{
	(void)state;
	confirm(ANNA, 1, 4, 0);
	bind(ANNA, 1, CHAIN, 0);
	bind(BERT, 1, CHAIN, 0);
	prefix_index_withdraw(bench.index, ANNA, chain_of(1), CHAIN);
	assert_int_equal(held(ANNA, 1, CHAIN, 0), 4);
	assert_int_equal(held(BERT, 1, CHAIN, 0), CHAIN);
	assert_int_equal(records(), 14);
}

static void a_failed_hit_loses_the_whole_chain(void **state)
{
	(void)state;
	confirm(ANNA, 1, 4, 0);
	confirm(BERT, 1, 4, 0);
	bind(ANNA, 1, CHAIN, 0);
	assert_int_equal(prefix_index_evict(bench.index, ANNA, chain_of(1), CHAIN), CHAIN);
	assert_int_equal(held(ANNA, 1, CHAIN, 0), 0);
	assert_int_equal(held(BERT, 1, CHAIN, 0), 4);
	assert_int_equal(prefix_index_counts(bench.index).evicted_failed, CHAIN);
	assert_int_equal(prefix_index_evict(bench.index, ANNA, chain_of(1), CHAIN), 0);
}

static void a_forgotten_holder_holds_nothing_and_may_begin_at_once(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, SECOND);
	confirm(BERT, 1, CHAIN, SECOND);
	prefix_index_forget(bench.index, ANNA);
	assert_int_equal(held(ANNA, 1, CHAIN, SECOND), 0);
	assert_int_equal(held(BERT, 1, CHAIN, SECOND), CHAIN);
	assert_int_equal(records(), CHAIN);
	assert_int_equal(prefix_index_counts(bench.index).evicted_holder, CHAIN);
	confirm(ANNA, 1, 3, SECOND); /* within the same tick */
	assert_int_equal(held(ANNA, 1, CHAIN, SECOND), 3);
	prefix_index_forget(bench.index, ANNA);
	assert_int_equal(held(ANNA, 1, CHAIN, SECOND), 0);
	confirm(ANNA, 1, 5, SECOND);
	assert_int_equal(held(ANNA, 1, CHAIN, SECOND), 5);
	assert_int_equal(records(), 15);
}

static void the_records_of_forgotten_holders_are_used_again(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		for (uint64_t prompt = 0; prompt < 90; prompt++)
			confirm(ANNA, prompt, CHAIN, SECOND);
		assert_int_equal(records(), 900);
		prefix_index_forget(bench.index, ANNA);
		confirm(BERT, 1000, CHAIN, SECOND);
		assert_int_equal(records(), CHAIN);
		prefix_index_forget(bench.index, BERT);
	}
	assert_int_equal(prefix_index_counts(bench.index).evicted_full, 0);
}

static void another_ladder_begins_anew(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, 0);
	(void)snprintf(bench.ladder.id, sizeof(bench.ladder.id), "64x1001");
	confirm(BERT, 1, 3, 0);
	assert_int_equal(held(ANNA, 1, CHAIN, 0), 0);
	assert_int_equal(held(BERT, 1, CHAIN, 0), 3);
	assert_int_equal(records(), 3);
}

/* What a holder has of a prompt, it has from the root on. */
static void assert_no_orphans(uint32_t holder, uint64_t prompt, uint32_t blocks, usec_t now)
{
	uint32_t until = held(holder, prompt, blocks, now);
	struct prefix_match match[HOLDERS];

	for (uint32_t i = until; i < blocks; i++) {
		size_t count = prefix_index_match(bench.index, chain_of(prompt) + i, 1, now, match,
		                                  HOLDERS);

		for (size_t j = 0; j < count; j++)
			assert_int_not_equal(match[j].holder, holder);
	}
}

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

/* Property: the index agrees with a plain table of (holder, prompt) -> blocks. */
static void without_pressure_it_agrees_with_a_plain_table(void **state)
{
	static uint32_t expected[HOLDERS][20];
	struct rng rng = { 10 };
	uint32_t sum = 0;

	(void)state;
	replace_index(made(HOLDERS * 20 * 30, 1e9));
	for (int i = 0; i < 30000; i++) {
		uint32_t holder = (uint32_t)(rng_next(&rng) % HOLDERS);
		uint64_t prompt = rng_next(&rng) % 20;
		uint32_t blocks = 1 + (uint32_t)(rng_next(&rng) % 30);
		uint32_t *plain = &expected[holder][prompt];
		uint64_t what = rng_next(&rng) % 16;

		if (what == 0) {
			prefix_index_forget(bench.index, holder);
			memset(expected[holder], 0, sizeof(expected[holder]));
		} else if (what == 1) {
			assert_int_equal(
			        prefix_index_evict(bench.index, holder, chain_of(prompt), 30),
			        *plain);
			*plain = 0;
		} else {
			confirm(holder, prompt, blocks, SECOND);
			*plain = blocks > *plain ? blocks : *plain;
		}
		assert_int_equal(held(holder, prompt, 31, SECOND), *plain);
	}
	for (uint32_t holder = 0; holder < HOLDERS; holder++)
		for (uint64_t prompt = 0; prompt < 20; prompt++) {
			assert_int_equal(held(holder, prompt, 31, SECOND),
			                 expected[holder][prompt]);
			sum += expected[holder][prompt];
		}
	assert_int_equal(records(), sum);
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

static long resident_kilobytes(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void ten_million_blocks_take_no_more_memory_than_one_million(void **state)
{
	long full;
	uint64_t prompt = 0;

	(void)state;
	replace_index(made(1000000, 1e12));
	while (prompt < 2 * 1000000 / CHAIN)
		confirm((uint32_t)(prompt % HOLDERS), prompt, CHAIN, prompt * MSEC / 100), prompt++;
	full = resident_kilobytes();
	while (prompt < 10000000 / CHAIN)
		confirm((uint32_t)(prompt % HOLDERS), prompt, CHAIN, prompt * MSEC / 100), prompt++;
	assert_true(resident_kilobytes() <= full + full / 20);
	assert_int_equal(records(), 1000000);
	for (uint64_t back = 1; back < 1000; back++)
		assert_int_equal(held((uint32_t)((prompt - back) % HOLDERS), prompt - back, CHAIN,
		                      prompt * MSEC / 100),
		                 CHAIN);
}

static void times_may_change_while_it_runs(void **state)
{
	struct prefix_limits other = limits;

	(void)state;
	confirm(ANNA, 1, CHAIN, 0);
	other.ttl = 10 * SECOND;
	other.holder_bytes = 5000;
	prefix_index_tune(bench.index, &other);
	assert_int_equal(held(ANNA, 1, CHAIN, 11 * SECOND), 0);
	confirm(BERT, 1, CHAIN, 11 * SECOND);
	assert_int_equal(held(BERT, 1, CHAIN, 11 * SECOND), 5);
}

static void without_memory_there_is_no_index_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 5; i++) {
		failing = i;
		assert_null(prefix_index_new(&limits));
	}
	assert_int_equal(failing, 0);
	prefix_index_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_index, close_index)

int main(void)
{
	const struct CMUnitTest prefix[] = {
		TEST(each_holder_matches_as_far_as_it_holds),
		TEST(a_match_tells_whether_others_went_on_from_there),
		TEST(a_provisional_binding_lasts_half_a_minute),
		TEST(a_confirmed_binding_lasts_its_time_and_a_hit_renews_it),
		TEST(an_expired_record_is_provisional_when_bound_again),
		TEST(each_holder_has_an_age_of_its_own),
		TEST(withdrawing_leaves_what_is_confirmed),
		TEST(a_failed_hit_loses_the_whole_chain),
		TEST(a_forgotten_holder_holds_nothing_and_may_begin_at_once),
		TEST(the_records_of_forgotten_holders_are_used_again),
		TEST(another_ladder_begins_anew),
		TEST(a_budget_takes_tails_before_roots),
		TEST(a_prompt_above_the_budget_keeps_its_head),
		TEST(a_renewed_chain_does_not_push_out_its_own_head),
		TEST(a_full_table_takes_from_the_largest_until_shares_are_even),
		TEST(expired_tails_go_when_something_new_comes),
		TEST(no_block_is_without_its_parent),
		TEST(without_pressure_it_agrees_with_a_plain_table),
		TEST(at_twice_its_capacity_recent_prompts_match_from_their_head),
		TEST(ten_million_blocks_take_no_more_memory_than_one_million),
		TEST(times_may_change_while_it_runs),
		TEST(without_memory_there_is_no_index_and_no_leak),
	};

	return cmocka_run_group_tests(prefix, NULL, NULL);
}
