/* test_prefix_index.c - who holds which prefix, and for how long.
 * Proves R050 (locally), R054, R055, R056, P063, P069, P071. */
#include "tests/failing_calloc.h"
#include "tests/policies/state/held.h"

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

static void a_hole_ends_the_match(void **state)
{
	(void)state;
	confirm(ANNA, 1, CHAIN, 0);
	confirm(BERT, 1, CHAIN, 0);
	assert_int_equal(prefix_index_evict(bench.index, ANNA, chain_of(1) + 4, 1), 1);
	assert_int_equal(held(ANNA, 1, CHAIN, 0), 4);
	assert_int_equal(held(BERT, 1, CHAIN, 0), CHAIN);
	confirm(ANNA, 1, 5, 0);
	assert_int_equal(held(ANNA, 1, CHAIN, 0), CHAIN);
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
		TEST(a_hole_ends_the_match),
		TEST(a_forgotten_holder_holds_nothing_and_may_begin_at_once),
		TEST(the_records_of_forgotten_holders_are_used_again),
		TEST(another_ladder_begins_anew),
		TEST(without_pressure_it_agrees_with_a_plain_table),
		TEST(times_may_change_while_it_runs),
		TEST(without_memory_there_is_no_index_and_no_leak),
	};

	return cmocka_run_group_tests(prefix, NULL, NULL);
}
