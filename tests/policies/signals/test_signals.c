/* test_signals.c - each signal reads its own number, and none where nothing is known:
 * unknown is not zero. docs/strategies.md. */
#include "policies/signals/signals.h"
#include "tests/policies/hand.h"

static struct hand hand;

static int start(void **state)
{
	(void)state;
	hand_make(&hand, "default", 1);
	return 0;
}

static void reads(const struct signal *signal, double expected)
{
	double value = -1;

	assert_true(signal->read(&hand.walk, &hand.pool[0], &value));
	expect_close(value, expected);
}

static void reads_nothing(const struct signal *signal)
{
	double value = -77;

	assert_false(signal->read(&hand.walk, &hand.pool[0], &value));
	assert_true(value == -77); /* untouched */
}

static void what_is_known_is_read_as_it_is(void **state)
{
	(void)state;
	hand.loads[0] = (struct load){
		.pending = 3, .ttft_ms = 250, .e2e_ms = 4000, .kv_usage = 0.5, .failures = 0.25
	};
	reads(&signal_pending, 3);
	reads(&signal_ttft, 250);
	reads(&signal_e2e, 4000);
	reads(&signal_kv_usage, 0.5);
	reads(&signal_failures, 0.25);
}

static void zero_is_known(void **state)
{
	(void)state;
	hand.loads[0] = (struct load){ 0 };
	reads(&signal_pending, 0);
	reads(&signal_ttft, 0);
	reads(&signal_e2e, 0);
	reads(&signal_kv_usage, 0);
	reads(&signal_failures, 0);
}

static void what_is_not_known_is_not_zero(void **state)
{
	static const struct signal *const signals[] = { &signal_pending, &signal_ttft, &signal_e2e,
		                                        &signal_kv_usage };

	(void)state;
	for (size_t i = 0; i < COUNT(signals); i++)
		reads_nothing(signals[i]);
	hand.pool[0].load = NULL;
	for (size_t i = 0; i < COUNT(signals); i++)
		reads_nothing(signals[i]);
	reads_nothing(&signal_failures);
}

static void who_reads_the_load_says_so(void **state)
{
	(void)state;
	assert_true(signal_pending.reads_load && signal_ttft.reads_load && signal_e2e.reads_load);
	assert_true(signal_kv_usage.reads_load && signal_failures.reads_load);
	assert_false(signal_running.reads_load || signal_tokens.reads_load);
	assert_false(signal_work.reads_load || signal_prefix.reads_load);
}

static void our_own_counts_are_always_known(void **state)
{
	struct candidate *candidate = &hand.pool[0];

	(void)state;
	candidate->running_scored = 2;
	candidate->tokens = 900;
	candidate->prefill_tokens = 1000;
	candidate->uncached_tokens = 300;
	hand.entry.uncached_weight = 2;
	hand.entry.inflight_tokens = 50;
	reads(&signal_running, 2);
	reads(&signal_tokens, 900);
	reads(&signal_work, 1000 + 2 * 300 + 50 * 2);
}

static void a_prefix_counts_as_its_share_of_the_prompt_where_it_is_a_hit(void **state)
{
	(void)state;
	reads_nothing(&signal_prefix); /* no prompt */
	hand.prompt.blocks = 3;
	reads_nothing(&signal_prefix); /* of no length */
	hand.prompt.total_bytes = 8000;
	hand.pool[0].effective = 2000;
	reads(&signal_prefix, 0);
	hand.pool[0].hit = true;
	reads(&signal_prefix, 0.25);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_known_is_read_as_it_is),
		TEST(zero_is_known),
		TEST(what_is_not_known_is_not_zero),
		TEST(who_reads_the_load_says_so),
		TEST(our_own_counts_are_always_known),
		TEST(a_prefix_counts_as_its_share_of_the_prompt_where_it_is_a_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
