/* test_engine_signals.c - what engines tell and taught, as signals. Proves R143, R144, R146, R148,
 * R153, B030. */
#include "policies/signals/signals.h"
#include "tests/policies/hand.h"

static struct hand hand;

/* Two replicas at 20 s; 4000 prompt bytes per 1000 tokens. */
static int fresh(void **state)
{
	(void)state;
	hand_make(&hand, "predicted-ttft", 2);
	hand.instance.replicas = hand.replicas;
	hand.instance.replica_count = 2;
	hand.walk.now = 20 * SECOND;
	hand.prompt =
	        (struct prompt){ .tokens = 10000, .total_bytes = 40000, .output_tokens = 100 };
	return 0;
}

static double read(const struct signal *signal, size_t i)
{
	double value = -1;

	assert_true(signal->read(&hand.walk, &hand.pool[i], &value));
	return value;
}

static void expect_unknown(const struct signal *signal, size_t i)
{
	double value = -77;

	assert_false(signal->read(&hand.walk, &hand.pool[i], &value));
	assert_true(value == -77);
}

/* Ten seconds in which these counters grew. */
static void grew(size_t i, double prompt, double generated, double token_seconds)
{
	struct engine_page page = engine_page_blank(10 * SECOND);
	struct growth growth;

	page.prompt_tokens = page.generation_tokens = page.token_seconds = page.token_gaps = 0;
	page.running = 1;
	(void)rates_learn(hand.facts.rates, (uint32_t)i, &page, &growth);
	page.at = 20 * SECOND;
	page.prompt_tokens = prompt;
	page.generation_tokens = page.token_gaps = generated;
	page.token_seconds = token_seconds;
	(void)rates_learn(hand.facts.rates, (uint32_t)i, &page, &growth);
}

static void teach(size_t i, double slope, double base)
{
	for (int k = 0; k < 8; k++)
		(void)ttft_fit_add(hand.facts.ttft_fits, &hand.instance, (uint32_t)i, k * 1000.0,
		                   base + slope * k * 1000.0);
}

/* Samples are kept in floats. */
static void expect_ms(const struct signal *signal, size_t i, double expected)
{
	double off = read(signal, i) - expected;

	assert_true(off < 1e-3 && off > -1e-3);
}

/* A holder with a queue wins until its queue exceeds 8000 tokens. */
static void the_example_of_predicted_time_to_first_token(void **state)
{
	(void)state;
	teach(0, 1 / 8000.0, 0.05);
	teach(1, 1 / 8000.0, 0.05);
	hand.pool[0].prefill_tokens = 4000;
	hand.pool[0].uncached_tokens = 1000;
	hand.pool[1].uncached_tokens = 9000;
	expect_ms(&signal_predicted_ttft, 0, 675);
	expect_ms(&signal_predicted_ttft, 1, 1175);
	hand_run(&hand, &stage_score);
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 0);
	hand.pool[0].prefill_tokens = 8001;
	hand_run(&hand, &stage_score);
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 1);
}

static void a_target_that_taught_nothing_is_predicted_all_the_same(void **state)
{
	(void)state;
	hand.pool[0].uncached_tokens = 5000;
	expect_close(read(&signal_predicted_ttft, 0), 675);
}

static void the_slower_of_two_is_predicted_slower(void **state)
{
	(void)state;
	teach(0, 1 / 2000.0, 0.05);
	teach(1, 1 / 8000.0, 0.05);
	hand.pool[0].uncached_tokens = hand.pool[1].uncached_tokens = 4000;
	expect_ms(&signal_predicted_ttft, 0, 2050);
	hand_run(&hand, &stage_score);
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 1);
}

static void latency_is_predicted_where_the_time_per_token_is_known(void **state)
{
	(void)state;
	hand.pool[0].uncached_tokens = hand.pool[1].uncached_tokens = 5000;
	grew(0, 0, 1000, 30);
	expect_close(read(&signal_tpot, 0), 30);
	expect_close(read(&signal_latency, 0), 675 + 100 * 30);
	expect_unknown(&signal_tpot, 1);
	expect_unknown(&signal_latency, 1);
	hand.loads[1].e2e_ms = 4000;
	expect_close(read(&signal_latency, 1), 4000);
	hand_run(&hand, &stage_score);
}

/* Members of an instance have no struct load. */
static void latency_of_a_member_is_its_own_average(void **state)
{
	(void)state;
	hand.pool[1].load = NULL;
	expect_unknown(&signal_latency, 1);
	average_add(&averages_of(hand.facts.averages, 1)->e2e_ms, 3000, 60 * SECOND, 19 * SECOND);
	expect_close(read(&signal_latency, 1), 3000);
}

static void throughput_is_what_the_engine_works_through(void **state)
{
	(void)state;
	expect_unknown(&signal_throughput, 0);
	grew(0, 5000, 1000, 30);
	assert_true(read(&signal_throughput, 0) > 0);
	grew(1, 1000, 1000, 30);
	assert_true(read(&signal_throughput, 1) < read(&signal_throughput, 0));
	hand.walk.now = 24 * SECOND;
	expect_unknown(&signal_throughput, 0);
}

static void utilization_is_the_fuller_of_queue_and_cache(void **state)
{
	struct engine_page page = engine_page_blank(20 * SECOND);

	(void)state;
	expect_unknown(&signal_utilization, 0);
	hand_page(&hand, 0, 2, 0.64);
	expect_close(read(&signal_utilization, 0), 0.8);
	hand_page(&hand, 0, 5, 0.64);
	expect_close(read(&signal_utilization, 0), 1);
	hand_page(&hand, 0, -1, 0.4);
	expect_close(read(&signal_utilization, 0), 0.5);
	hand_page(&hand, 0, 1, -1);
	expect_close(read(&signal_utilization, 0), 0.2);
	page.utilization = 0.3;
	page.waiting = 50;
	engines_put(hand.facts.engines, 0, &page);
	expect_close(read(&signal_utilization, 0), 0.3);
	hand.walk.now = 24 * SECOND;
	expect_unknown(&signal_utilization, 0);
}

/* 1.2 + 0.75 + 0.375 against 0.3 + 1.25 + 1.125. */
static void the_example_of_preble(void **state)
{
	(void)state;
	hand_page(&hand, 0, -1, 0.5);
	hand_page(&hand, 1, -1, 0.9);
	recent_add(hand.facts.recent, 0, 1.2, 20 * SECOND);
	recent_add(hand.facts.recent, 1, 0.3, 20 * SECOND);
	hand.pool[0].uncached_tokens = 6000;
	hand.pool[1].uncached_tokens = 10000;
	expect_close(read(&signal_preble, 0), 2.325);
	expect_close(read(&signal_preble, 1), 2.675);
	hand_page(&hand, 1, -1, -1);
	expect_close(read(&signal_preble, 1), 1.55);
}

static void of_a_known_prompt_preble_asks_the_deepest_holders_for_their_tokens(void **state)
{
	(void)state;
	hand_make(&hand, "prefix-cache-preble", 4);
	hand.prompt = (struct prompt){ .total_bytes = 40000, .blocks = 12 };
	hand.pool[0].matched = hand.pool[2].matched = 20480;
	hand.pool[1].matched = 16384;
	hand.pool[0].tokens = 900;
	hand.pool[2].tokens = 400;
	hand_run(&hand, &stage_deepest);
	assert_true(hand.walk.deep);
	assert_int_equal(hand.walk.standing, 2);
	assert_true(hand_stands(&hand, 0) && hand_stands(&hand, 2));
	hand_run(&hand, &stage_score);
	assert_ptr_equal(hand.pool[picker_best.pick(&hand.walk, NULL)].target, &hand.targets[2]);
}

static void half_a_prompt_is_not_a_known_one(void **state)
{
	(void)state;
	hand_make(&hand, "prefix-cache-preble", 2);
	hand.prompt = (struct prompt){ .total_bytes = 40960, .blocks = 12 };
	hand.pool[0].matched = 20480;
	hand_run(&hand, &stage_deepest);
	assert_false(hand.walk.deep);
	assert_int_equal(hand.walk.standing, 2);
	hand.entry.strategy = hand.walk.strategy = strategy_named(SPAN("prefix-cache"));
	hand.pool[0].matched = 40960;
	hand_run(&hand, &stage_deepest);
	assert_int_equal(hand.walk.standing, 2);
}

static void busy_time_reads_the_ledger_by_engine(void **state)
{
	(void)state;
	(void)ledger_acquire(hand.facts.ledger, 0, 0, 0, 0);
	(void)ledger_acquire(hand.facts.ledger, 0, 0, 0, 0);
	hand.walk.now = 30 * SECOND;
	expect_close(read(&signal_busy_time, 0), 0.786939);
	expect_close(read(&signal_busy_time, 1), 0);
	hand.pool[0].engines = 2;
	expect_close(read(&signal_busy_time, 0), 0.786939 / 2);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_example_of_predicted_time_to_first_token),
		TEST(a_target_that_taught_nothing_is_predicted_all_the_same),
		TEST(the_slower_of_two_is_predicted_slower),
		TEST(latency_is_predicted_where_the_time_per_token_is_known),
		TEST(latency_of_a_member_is_its_own_average),
		TEST(throughput_is_what_the_engine_works_through),
		TEST(utilization_is_the_fuller_of_queue_and_cache),
		TEST(the_example_of_preble),
		TEST(of_a_known_prompt_preble_asks_the_deepest_holders_for_their_tokens),
		TEST(half_a_prompt_is_not_a_known_one),
		TEST(busy_time_reads_the_ledger_by_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
