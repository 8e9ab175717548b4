/* test_rates.c - how fast an engine is, by what its counters grew. Proves R147, R148 and
 * B031 in part. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/rates.h"
#include "tests/failing_calloc.h"
#include "tests/near.h"

/* An engine whose counters grow from page to page. */
struct engine {
	struct rates *rates;
	struct engine_page page;
	struct growth growth;
};

static int open_engine(void **state)
{
	static struct engine engine;

	engine = (struct engine){ .rates = rates_new(2), .page = engine_page_blank(SECOND) };
	*state = &engine;
	return engine.rates ? 0 : -1;
}

static int close_engine(void **state)
{
	struct engine *engine = *state;

	rates_free(engine->rates);
	return 0;
}

/* It is a later page of the same engine. */
static bool read_page(struct engine *engine)
{
	return rates_learn(engine->rates, 1, &engine->page, &engine->growth) == RATES_GREW;
}

/* A second later, with so many requests running and these counters grown. */
static bool second_later(struct engine *engine, double running, double prompt, double generated)
{
	engine->page.at += SECOND;
	engine->page.running = running;
	engine->page.prompt_tokens += prompt;
	engine->page.generation_tokens += generated;
	return read_page(engine);
}

static void begin(struct engine *engine)
{
	engine->page.running = 13;
	engine->page.prompt_tokens = 5000;
	engine->page.generation_tokens = 9000;
	assert_false(read_page(engine));
}

static void nothing_is_known_of_one_page(void **state)
{
	struct engine *engine = *state;
	double value = -1;

	begin(engine);
	assert_false(rates_capacity(engine->rates, 1, &value));
	assert_false(rates_tpot(engine->rates, 1, engine->page.at, &value));
	assert_false(rates_throughput(engine->rates, 1, engine->page.at, 0, &value));
	assert_true(value == -1);
	assert_false(read_page(engine)); /* the same one again */
	assert_false(rates_throughput(engine->rates, 1, engine->page.at, 0, &value));
}

/* 800 at a mean of (13 + 5) / 2; the next second is faster and raises both a little. */
static void capacity_is_output_growth_with_the_mean_running(void **state)
{
	struct engine *engine = *state;
	double value;

	begin(engine);
	assert_true(second_later(engine, 5, 10000, 800));
	assert_near(engine->growth.seconds, 1);
	assert_near(engine->growth.generated, 800);
	assert_near(engine->growth.finished, -1);
	assert_true(rates_capacity(engine->rates, 1, &value));
	assert_near(value, 800);
	assert_true(second_later(engine, 0, 0, 1200)); /* at 2.5 */
	assert_true(rates_capacity(engine->rates, 1, &value));
	assert_near(value, 800 + 400 * (1 - exp(-0.1)));
	assert_true(second_later(engine, 1.9, 0, 10)); /* at 0.95: not enough to tell */
	assert_true(rates_capacity(engine->rates, 1, &value));
	assert_near(value, 800 + 400 * (1 - exp(-0.1)));
	assert_false(rates_capacity(engine->rates, 0, &value));
}

static void a_counter_that_went_back_is_a_new_engine(void **state)
{
	struct engine *engine = *state;
	double value;

	begin(engine);
	assert_true(second_later(engine, 5, 1, 800));
	engine->page.generation_tokens = 3;
	assert_false(second_later(engine, 5, 0, 0));
	assert_false(rates_capacity(engine->rates, 1, &value));
	assert_false(rates_throughput(engine->rates, 1, engine->page.at, 0, &value));
	assert_true(second_later(engine, 5, 0, 70));
	assert_true(rates_capacity(engine->rates, 1, &value));
	assert_near(value, 70);
}

/* Each counter tells, and one that is gone does not. */
static void any_counter_tells_of_a_restart(void **state)
{
	struct engine *engine = *state;
	struct engine_page *page = &engine->page;
	double *counters[] = { &page->prompt_tokens, &page->generation_tokens, &page->finished,
		               &page->token_gaps,    &page->cache_queries,     &page->cache_hits };

	begin(engine);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		*counters[i] = 1e6;
		assert_true(second_later(engine, 5, 0, 0));
		*counters[i] = 1e6 - 1;
		page->at += SECOND;
		assert_int_equal(rates_learn(engine->rates, 1, page, &engine->growth),
		                 RATES_RESTARTED);
		*counters[i] = -1;
		assert_true(second_later(engine, 5, 0, 0));
	}
}

static void throughput_weighs_prompts_twice_and_is_smoothed(void **state)
{
	struct engine *engine = *state;
	double value, kept = exp(-1.0 / 60);

	begin(engine);
	assert_true(second_later(engine, 5, 1000, 300));
	assert_true(rates_throughput(engine->rates, 1, engine->page.at, 3 * SECOND, &value));
	assert_near(value, 2300);
	assert_true(second_later(engine, 5, 0, 900));
	assert_true(rates_throughput(engine->rates, 1, engine->page.at, 3 * SECOND, &value));
	assert_near(value, 2 * 1000 * kept + 300 + 600 * (1 - kept));
	assert_true(rates_throughput(engine->rates, 1, engine->page.at + 3 * SECOND, 3 * SECOND,
	                             &value));
	assert_false(rates_throughput(engine->rates, 1, engine->page.at + 3 * SECOND + 1,
	                              3 * SECOND, &value));
}

/* 1.2 s for 60 gaps are 20 ms; then 3 s for 60 more at once. */
static void tpot_is_the_mean_gap_and_ages(void **state)
{
	struct engine *engine = *state;
	double value, kept = exp(-1.0 / 30);

	engine->page.token_seconds = 100;
	engine->page.token_gaps = 1000;
	begin(engine);
	engine->page.token_seconds += 1.2;
	engine->page.token_gaps += 60;
	assert_true(second_later(engine, 5, 1, 1));
	assert_true(rates_tpot(engine->rates, 1, engine->page.at, &value));
	assert_near(value, 20);
	engine->page.token_seconds += 3;
	engine->page.token_gaps += 60;
	assert_true(second_later(engine, 5, 1, 1));
	assert_true(rates_tpot(engine->rates, 1, engine->page.at, &value));
	assert_near(value, 20 + 30 / (kept + 1));
	assert_true(second_later(engine, 5, 1, 1)); /* no token */
	assert_true(rates_tpot(engine->rates, 1, engine->page.at + 59 * SECOND, &value));
	assert_false(rates_tpot(engine->rates, 1, engine->page.at + 59 * SECOND + 1, &value));
}

/* A counter that is gone makes unknown what needs it, not the rest. */
static void a_metric_that_is_gone_is_unknown_and_not_zero(void **state)
{
	struct engine *engine = *state;
	double value;

	begin(engine);
	assert_true(second_later(engine, 5, 1000, 800));
	engine->page.prompt_tokens = -1;
	assert_true(second_later(engine, 5, 0, 800));
	assert_false(rates_throughput(engine->rates, 1, engine->page.at, 0, &value));
	assert_true(rates_capacity(engine->rates, 1, &value));
	engine->page.prompt_tokens = 0;
	assert_true(second_later(engine, 5, 0, 800));
	assert_true(second_later(engine, 5, 10, 800));
	assert_true(rates_throughput(engine->rates, 1, engine->page.at, 0, &value));
	assert_near(value, 20 + 800);
	engine->page.generation_tokens = -1;
	assert_true(second_later(engine, 5, 0, 0));
	assert_true(engine->growth.generated < 0);
	assert_false(rates_throughput(engine->rates, 1, engine->page.at, 0, &value));
	assert_true(rates_capacity(engine->rates, 1, &value));
	assert_near(value, 800);
}

static void without_a_gauge_of_running_there_is_no_capacity(void **state)
{
	struct engine *engine = *state;
	double value;

	begin(engine);
	assert_true(second_later(engine, -1, 1000, 800));
	assert_true(second_later(engine, 3, 1000, 800));
	assert_false(rates_capacity(engine->rates, 1, &value));
	rates_forget(engine->rates, 1);
	assert_false(second_later(engine, 3, 1000, 800));
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(rates_new(2));
	}
	assert_int_equal(failing, 0);
	rates_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_engine, close_engine)

int main(void)
{
	const struct CMUnitTest rates[] = {
		TEST(nothing_is_known_of_one_page),
		TEST(capacity_is_output_growth_with_the_mean_running),
		TEST(a_counter_that_went_back_is_a_new_engine),
		TEST(any_counter_tells_of_a_restart),
		TEST(throughput_weighs_prompts_twice_and_is_smoothed),
		TEST(tpot_is_the_mean_gap_and_ages),
		TEST(a_metric_that_is_gone_is_unknown_and_not_zero),
		TEST(without_a_gauge_of_running_there_is_no_capacity),
		TEST(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(rates, NULL, NULL);
}
