/* test_score.c - grades, their mean, and what is not known. Proves R026, R040, R041, R042, P060;
 * docs/strategies.md, also where outliers must not tie with the best. */
#include "policies/signals/signals.h"
#include "tests/policies/hand.h"

static struct hand hand;
static struct strategy recipe;

static int fresh(void **state)
{
	(void)state;
	hand_make(&hand, "global-best", 3);
	recipe = (struct strategy){ .name = "test", .picker = &picker_best };
	hand.walk.strategy = &recipe;
	return 0;
}

static void weigh(size_t i, const struct signal *signal, double weight)
{
	recipe.weighings[i] =
	        (struct weighing){ .signal = signal, .weight = weight, .min_spread = -1 };
}

static void score(void)
{
	hand_run(&hand, &stage_score);
}

static void expect(double a, double b, double c)
{
	expect_close(hand.pool[0].score, a);
	expect_close(hand.pool[1].score, b);
	expect_close(hand.pool[2].score, c);
}

static void the_example_of_the_specification(void **state)
{
	struct instance weights[3] = { { .weight = 1 }, { .weight = 2.5 }, { .weight = 1 } };

	(void)state;
	weigh(0, &signal_ttft, 2);
	weigh(1, &signal_running, 2);
	weigh(2, &signal_pending, 1);
	hand.loads[0] = (struct load){ .ttft_ms = 200, .pending = 0 };
	hand.loads[1] = (struct load){ .ttft_ms = 400, .pending = 0 };
	hand.loads[2] = (struct load){ .ttft_ms = -1, .pending = 4 };
	hand_running(&hand, (double[]){ 3, 5, 30 });
	score();
	expect(1, 0.5, 0);
	hand.walk.level = 1;
	for (size_t i = 0; i < 3; i++)
		hand.pool[i].instance = &weights[i];
	score();
	expect(1, 1.25, 0);
	expect_close(hand.pool[1].graded, 0.5);
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 1);
}

static void equals_are_all_the_best(void **state)
{
	(void)state;
	weigh(0, &signal_ttft, 2);
	weigh(1, &signal_running, 2);
	weigh(2, &signal_pending, 1);
	for (size_t i = 0; i < 3; i++)
		hand.loads[i] = (struct load){ .ttft_ms = 200, .pending = 0 };
	hand_running(&hand, (double[]){ 3, 3, 3 });
	score();
	expect(1, 1, 1);
}

static void of_whom_nothing_is_known_is_in_the_middle(void **state)
{
	(void)state;
	weigh(0, &signal_ttft, 1);
	weigh(1, &signal_e2e, 1);
	hand.loads[0].ttft_ms = 100;
	hand.loads[1].ttft_ms = 200;
	score();
	expect(1, 0, 0.5);
}

static void a_recipe_without_signals_scores_the_middle(void **state)
{
	(void)state;
	score();
	expect(0.5, 0.5, 0.5);
}

static void best_is_1_worst_is_0_in_between_is_in_between(void **state)
{
	(void)state;
	weigh(0, &signal_ttft, 1);
	hand.loads[0].ttft_ms = 10;
	hand.loads[1].ttft_ms = 20;
	hand.loads[2].ttft_ms = 30;
	score();
	expect(1, 0.5, 0);
}

static void a_small_difference_in_requests_is_a_small_one_in_grades(void **state)
{
	(void)state;
	weigh(0, &signal_running, 1);
	hand_running(&hand, (double[]){ 3, 4, 5 });
	score();
	expect(1, 0.75, 0.5);
	recipe.weighings[0].min_spread = 0;
	score();
	expect(1, 0.5, 0);
}

static void natural_signals_keep_their_size(void **state)
{
	(void)state;
	weigh(0, &signal_kv_usage, 1);
	hand.loads[0].kv_usage = 0.2;
	hand.loads[1].kv_usage = 0.3;
	hand.loads[2].kv_usage = 1.5;
	score();
	expect(0.8, 0.7, 0);
}

static void more_of_a_prefix_is_better(void **state)
{
	(void)state;
	weigh(0, &signal_prefix, 1);
	hand.prompt = (struct prompt){ .total_bytes = 40000, .blocks = 12 };
	hand.pool[1].hit = true;
	hand.pool[1].effective = 30000;
	hand.pool[2].effective = 2000; /* below the floor, so no hit */
	score();
	expect(0, 0.75, 0);
}

static void an_outlier_does_not_make_the_others_alike(void **state)
{
	(void)state;
	weigh(0, &signal_ttft, 1);
	weigh(1, &signal_failures, 0.0001);
	hand.loads[0].ttft_ms = 100;
	hand.loads[1].ttft_ms = 110;
	hand.loads[2].ttft_ms = 100000;
	score();
	/* Median 110, deviation 10: 100000 counts as 140. */
	assert_true(hand.pool[1].score > 0.74 && hand.pool[1].score < 0.76);
}

/* Two good ones far from a crowd: pulled in they would tie, and recency would decide. */
static void where_a_signal_stands_alone_the_best_is_the_only_best(void **state)
{
	const double ttft[] = { 15000, 10000, 27000, 27100, 27200, 27300, 27400 };

	(void)state;
	hand_make(&hand, "least-work", 7);
	weigh(0, &signal_ttft, 1);
	hand.walk.strategy = &recipe;
	for (size_t i = 0; i < 7; i++)
		hand.loads[i].ttft_ms = ttft[i];
	hand.targets[1].chosen = 99;
	score();
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 1);
	assert_true(hand.pool[0].score < hand.pool[1].score - 0.2);
}

static void without_its_main_signal_a_recipe_falls_to_another_and_says_so(void **state)
{
	(void)state;
	hand.walk.strategy = strategy_named(SPAN("least-latency"));
	hand_running(&hand, (double[]){ 5, 1, 9 });
	score();
	assert_true(hand.walk.degraded);
	assert_string_equal(hand.walk.strategy->name, "least-request");
	expect(0.5, 1, 0);
	hand.walk.strategy = strategy_named(SPAN("least-latency"));
	hand.loads[2].e2e_ms = 100;
	score();
	assert_false(hand.walk.degraded);
	expect(0.5, 0.5, 1);
}

static void a_signal_known_of_nobody_leaves_the_sum(void **state)
{
	(void)state;
	weigh(0, &signal_running, 1);
	weigh(1, &signal_e2e, 9);
	hand_running(&hand, (double[]){ 0, 2, 4 });
	score();
	expect(1, 0.5, 0);
}

static void an_instance_reads_work_from_its_least_loaded_replica(void **state)
{
	struct candidate members[] = {
		{ .replica = &hand.replicas[0], .prefill_tokens = 9000, .engines = 1 },
		{ .replica = &hand.replicas[1], .prefill_tokens = 1000, .engines = 1 },
	};

	(void)state;
	weigh(0, &signal_work, 1);
	hand.walk.level = 1;
	for (size_t i = 0; i < 3; i++)
		hand.pool[i].replica = NULL;
	hand.pool[0].prefill_tokens = 2000;
	hand.pool[1].prefill_tokens = 5000;
	hand.pool[1].members = members;
	hand.pool[1].member_count = 2;
	hand.pool[2].prefill_tokens = 3000;
	score();
	expect(0.5, 1, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_example_of_the_specification),
		TEST(equals_are_all_the_best),
		TEST(of_whom_nothing_is_known_is_in_the_middle),
		TEST(a_recipe_without_signals_scores_the_middle),
		TEST(best_is_1_worst_is_0_in_between_is_in_between),
		TEST(a_small_difference_in_requests_is_a_small_one_in_grades),
		TEST(natural_signals_keep_their_size),
		TEST(more_of_a_prefix_is_better),
		TEST(an_outlier_does_not_make_the_others_alike),
		TEST(where_a_signal_stands_alone_the_best_is_the_only_best),
		TEST(without_its_main_signal_a_recipe_falls_to_another_and_says_so),
		TEST(a_signal_known_of_nobody_leaves_the_sum),
		TEST(an_instance_reads_work_from_its_least_loaded_replica),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
