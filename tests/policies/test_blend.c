/* test_blend.c - strings of strategies and what is added to one alone. Proves R133, R165, R166,
 * R167, R168, R169, R170, R171, B068. */
#include "policies/blend.h"
#include "policies/pickers/least.h"
#include "policies/signals/signals.h"
#include "tests/policies/hand.h"

static struct policy policy;
static struct blend room;
static struct blend_problem problem;

static int fresh(void **state)
{
	(void)state;
	policy_default(&policy);
	problem = (struct blend_problem){ BLEND_NONE, { NULL, 0 } };
	return 0;
}

static const struct strategy *made_of(const char *text)
{
	return blend_strategy(&policy, SPAN(text), &room, &problem);
}

static void expect(const char *text, const char *effective)
{
	char described[BLEND_TEXT_MAX];
	const struct strategy *strategy = made_of(text);

	if (!strategy)
		fail_msg("%s: %s", text, blend_fault_text(problem.fault));
	blend_describe(strategy, described);
	assert_string_equal(described, effective);
}

static void expect_fault(const char *text, enum blend_fault fault, const char *part)
{
	assert_null(made_of(text));
	assert_int_equal(problem.fault, fault);
	assert_int_equal(problem.part.len, strlen(part));
	assert_memory_equal(problem.part.at, part, strlen(part));
}

static void the_examples_of_strings(void **state)
{
	(void)state;
	expect("prefix-cache:2, least-request", "prefix:2,running:1,load-balance:1");
	expect("least-latency", "e2e:1,load-balance:1,running:1");
	expect("least-latency,load-balance:0", "e2e:1,running:1");
	expect("least-request:0,throughput", "throughput:1,load-balance:1");
	expect("prefix-cache", "prefix:5,load-balance:4");
	expect("prefix-cache:3", "prefix:3,load-balance:1,running:1");
	expect(" Soft_K_Choice ", "running:1");
	expect("least-request:0,soft-k-choice\t:\t2", "running:2,load-balance:1");
	expect("least-latency,session-affinity", "e2e:1,session:1,load-balance:1,running:1");
}

static void a_part_divides_its_weight_among_its_signals(void **state)
{
	(void)state;
	expect("queue-kv-prefix:8,least-request",
	       "pending:2,kv-usage:2,prefix:3,running:2,load-balance:1");
	expect("global-best:1,load-balance:0,least-request:0",
	       "ttft:0.25,e2e:0.125,running:0.25,pending:0.125,kv-usage:0.125,failures:0.125");
}

static void what_means_nothing_says_why(void **state)
{
	(void)state;
	expect_fault("random,least-request", BLEND_ALONE, "random");
	expect_fault("least-request:b", BLEND_COEFFICIENT, "least-request:b");
	expect_fault("least-request:", BLEND_COEFFICIENT, "least-request:");
	expect_fault("least-request:1000001", BLEND_COEFFICIENT, "least-request:1000001");
	expect_fault("least-request:-1", BLEND_COEFFICIENT, "least-request:-1");
	expect_fault("least-request:1.5", BLEND_COEFFICIENT, "least-request:1.5");
	expect_fault("least-request:00000001", BLEND_COEFFICIENT, "least-request:00000001");
	expect_fault("a:b", BLEND_UNKNOWN, "a:b");
	expect_fault("nonsense", BLEND_UNKNOWN, "nonsense");
	expect_fault("", BLEND_UNKNOWN, "");
	expect_fault(",least-request", BLEND_UNKNOWN, "");
	expect_fault("least-request,", BLEND_UNKNOWN, "");
	expect_fault("least-request,least-request", BLEND_TWICE, "least-request");
	expect_fault("least-kv-cache,least_gpu_cache:2", BLEND_TWICE, "least_gpu_cache:2");
	expect_fault("least-request:0,throughput:0", BLEND_NOTHING_NAMED,
	             "least-request:0,throughput:0");
	expect_fault("least-request,throughput,least-latency,prefix-cache,load-balance,"
	             "least-kv-cache,least-utilization,least-busy-time,predicted-ttft",
	             BLEND_TOO_MANY, "predicted-ttft");
	expect("least-request:1000000", "running:1000000,load-balance:1");
}

static void one_alone_keeps_its_name_and_its_picker(void **state)
{
	const struct strategy *strategy;

	(void)state;
	strategy = made_of("power_of_two");
	assert_string_equal(strategy->name, "power-of-two");
	assert_ptr_equal(strategy->picker, &picker_p2c);
	assert_true(strategy->gate && strategy->blended);
	assert_int_equal(strategy_row(strategy),
	                 strategy_row(strategy_named(SPAN("power-of-two"))));
	strategy = made_of("prefix-cache");
	assert_true(strategy->gate && strategy->sigma);
	assert_int_equal(strategy->prefix, PREFIX_SCORE);
	assert_string_equal(strategy->falls_to->name, "least-request");
	/* Nothing is added to these. */
	assert_ptr_equal(made_of("random"), strategy_named(SPAN("random")));
	assert_ptr_equal(made_of("load-balance"), strategy_load_balance());
	assert_ptr_equal(made_of("session-affinity"), strategy_named(SPAN("session-affinity")));
	assert_ptr_equal(made_of("soft-k-choice"), strategy_named(SPAN("soft-k-choice")));
	assert_ptr_equal(made_of("p2c"), strategy_named(SPAN("p2c")));
	assert_ptr_equal(made_of("default"), strategy_named(SPAN("least-work")));
	assert_ptr_equal(made_of("predicted-ttft"), strategy_named(SPAN("predicted-ttft")));
}

static void a_string_is_scored_and_keeps_what_it_was_called(void **state)
{
	const struct strategy *strategy = made_of("  Prefix_Cache:2,power-of-two ");

	(void)state;
	assert_string_equal(strategy->name, "Prefix_Cache:2,power-of-two");
	assert_ptr_equal(strategy->picker, &picker_best);
	assert_int_equal(strategy->prefix, PREFIX_SCORE);
	assert_true(strategy->gate && strategy->sigma && !strategy->serving);
	assert_int_equal(strategy_row(strategy), STRATEGY_ROWS_MAX);
	strategy = made_of("predicted-ttft,least-work");
	assert_false(strategy->gate || strategy->sigma);
	assert_true(made_of("prefix-cache-preble,least-request")->deepest == 0.5);
}

static void only_what_was_named_is_missed_when_it_is_unknown(void **state)
{
	const struct strategy *strategy = made_of("queue-kv-prefix,throughput");

	(void)state;
	for (size_t i = 0; i < WEIGHINGS_MAX && strategy->weighings[i].signal; i++) {
		const struct weighing *weighing = &strategy->weighings[i];
		bool first = weighing->signal == &signal_pending ||
		             weighing->signal == &signal_throughput;

		assert_int_equal(weighing->told, first);
	}
	strategy = made_of("throughput");
	assert_false(strategy->weighings[0].told);
}

static void who_draws_among_k_draws_by_load_when_blended(void **state)
{
	const struct option *by = option_named(picker_top_k.options, SPAN("by"));
	struct entry_policy entry;

	(void)state;
	entry_default(&entry, made_of("least-request-top-k"));
	assert_int_equal(*(int *)(void *)(entry.picker_settings + by->offset), BY_LOAD_BALANCE);
	entry_default(&entry, strategy_named(SPAN("least-request-top-k")));
	assert_int_equal(*(int *)(void *)(entry.picker_settings + by->offset), BY_RUNNING);
}

static void the_policy_says_how_much_is_blended_in(void **state)
{
	(void)state;
	policy.blend = (struct blend_policy){ 3, 0, 10, 8 };
	expect("least-latency", "e2e:1,load-balance:3");
	expect("prefix-cache", "prefix:10,load-balance:8");
	expect("least-latency:2,throughput", "e2e:2,throughput:1,load-balance:3");
	policy.blend.load_balance = 0;
	expect("least-latency:2,throughput", "e2e:2,throughput:1");
	assert_ptr_equal(made_of("least-latency"), strategy_named(SPAN("least-latency")));
	assert_ptr_equal(made_of("prefix-cache"), strategy_named(SPAN("prefix-cache")));
}

static void the_operators_own_can_be_a_part(void **state)
{
	const struct strategy own = {
		.name = "mine",
		.weighings = { { .signal = &signal_ttft, .weight = 3, .min_spread = 100 },
		               { .signal = &signal_running, .weight = 1, .min_spread = 0 } },
		.picker = &picker_best,
		.counts_requests = true
	};
	const struct strategy *list[] = { &own };

	(void)state;
	policy.strategies = list;
	policy.strategy_count = 1;
	expect("Mine:4,prefix-cache", "ttft:3,running:1,prefix:1,load-balance:1");
	assert_true(room.strategy.weighings[0].min_spread == 100);
	assert_ptr_equal(made_of("mine"), &own);
}

/* One reads the same signal on another scale: two weighings. */
static void a_signal_read_in_two_ways_counts_twice(void **state)
{
	const struct strategy own = { .name = "mine",
		                      .weighings = { { .signal = &signal_running,
		                                       .weight = 1,
		                                       .min_spread = -1,
		                                       .scale = WEIGHING_NATURAL,
		                                       .full = 100 } },
		                      .picker = &picker_best };
	const struct strategy *list[] = { &own };

	(void)state;
	policy.strategies = list;
	policy.strategy_count = 1;
	expect("mine,least-request:2", "running:1,running:2,load-balance:1");
}

static void a_long_text_is_cut_not_overrun(void **state)
{
	char text[600];
	const struct strategy *strategy;

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text, "least-request:2,", 16);
	memcpy(text + 580, "least-latency", 13);
	strategy = blend_strategy(&policy, (struct span){ text, sizeof(text) }, &room, &problem);
	assert_non_null(strategy);
	assert_int_equal(strlen(strategy->name), BLEND_TEXT_MAX - 1);
}

/* Matches of 1, 0.75 and 0 against loads of 0, 1 and 0.5: 5:4 takes the second. */
static void the_blend_keeps_requests_off_a_hot_target(void **state)
{
	static struct hand hand;

	(void)state;
	hand_make(&hand, "prefix-cache", 3);
	hand.walk.strategy = made_of("prefix-cache");
	hand.prompt = (struct prompt){ .total_bytes = 40000, .blocks = 12 };
	hand.pool[0].hit = hand.pool[1].hit = true;
	hand.pool[0].effective = 40000;
	hand.pool[1].effective = 30000;
	hand_running(&hand, (double[]){ 8, 0, 4 });
	hand_run(&hand, &stage_score);
	expect_close(hand.pool[0].score, 5.0 / 9);
	expect_close(hand.pool[1].score, (5 * 0.75 + 4) / 9);
	expect_close(hand.pool[2].score, 2.0 / 9);
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 1);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_examples_of_strings),
		TEST(a_part_divides_its_weight_among_its_signals),
		TEST(what_means_nothing_says_why),
		TEST(one_alone_keeps_its_name_and_its_picker),
		TEST(a_string_is_scored_and_keeps_what_it_was_called),
		TEST(only_what_was_named_is_missed_when_it_is_unknown),
		TEST(who_draws_among_k_draws_by_load_when_blended),
		TEST(the_policy_says_how_much_is_blended_in),
		TEST(the_operators_own_can_be_a_part),
		TEST(a_signal_read_in_two_ways_counts_twice),
		TEST(a_long_text_is_cut_not_overrun),
		TEST(the_blend_keeps_requests_off_a_hot_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
