/* test_admission.c - who may take one more. Proves R025, R035, R036, R052, R085;
 * docs/strategies.md. */
#include "policies/stages/admission.h"
#include "tests/policies/hand.h"

static struct hand hand;
static const usec_t now = 1000 * SECOND;

static int begin(void **state)
{
	(void)state;
	hand_make(&hand, "global-best", 1);
	hand.facts.health = health_new(HAND_MAX, &hand.policy.health);
	hand.facts.ledger = ledger_new(HAND_MAX, 5 * SECOND, 600 * SECOND);
	hand.facts.averages = averages_new(HAND_MAX);
	assert_true(hand.facts.health && hand.facts.ledger && hand.facts.averages);
	hand.walk.now = now;
	hand.entry.prefer_serving_below = 1;
	hand.entry.admit.running = 10;
	hand.entry.admit.ttft_ms = 2000;
	return 0;
}

static int end(void **state)
{
	(void)state;
	health_free(hand.facts.health);
	ledger_free(hand.facts.ledger);
	averages_free(hand.facts.averages);
	return 0;
}

static void load(double running, double ttft_ms, double share)
{
	hand.pool[0].running = running;
	hand.loads[0].ttft_ms = ttft_ms;
	hand.pool[0].hit = share > 0;
	hand.prompt.total_bytes = 100000;
	hand.pool[0].matched = (uint32_t)(share * 100000);
}

static bool admitted(void)
{
	return stage_admission.keep(&hand.walk, &hand.pool[0]);
}

static bool admits(double running, double ttft_ms, double share)
{
	load(running, ttft_ms, share);
	return admitted();
}

static void the_table_of_the_specification(void **state)
{
	(void)state;
	assert_true(admits(9, 1999, 0));
	assert_false(admits(10, 100, 0));
	assert_true(admits(12, 100, 1.0));
	assert_true(admits(21, 100, 0.8));
	assert_false(admits(24, 100, 0.8));
	assert_true(admits(3, 4500, 1.0));
	assert_false(admits(3, 5001, 1.0));
	assert_true(admits(0, 9000, 0));
	assert_true(admits(5, -1, 0));
	(void)health_note(hand.facts.health, &(struct report){ .target = 0, .class = CLASS_BUSY },
	                  now);
	assert_false(admits(0, 100, 0));
}

static void every_limit_drops_and_none_is_set_by_default(void **state)
{
	struct limits *admit = &hand.entry.admit;

	(void)state;
	*admit = (struct limits){ 0 };
	hand.loads[0] = (struct load){ 1e6, 1e6, 1e6, 1, 0 };
	hand.pool[0].running = 1e6;
	assert_true(admitted());
	assert_false(stage_admission.needed(&hand.walk));
	*admit = (struct limits){ .pending = 5 };
	assert_true(stage_admission.needed(&hand.walk));
	assert_false(admitted());
	hand.loads[0].pending = 5;
	assert_true(admitted());
	*admit = (struct limits){ .e2e_ms = 100 };
	assert_false(admitted());
	hand.loads[0].e2e_ms = 100;
	assert_true(admitted());
	*admit = (struct limits){ .ttft_ms = 100 };
	assert_false(admitted());
	*admit = (struct limits){ .kv_usage = 0.9 };
	assert_false(admitted());
	hand.loads[0].kv_usage = 0.9;
	assert_true(admitted());
}

static void room_in_the_cache_is_never_relaxed(void **state)
{
	(void)state;
	hand.entry.admit = (struct limits){ .kv_usage = 0.5 };
	load(3, -1, 1.0);
	hand.loads[0].kv_usage = 0.6;
	assert_false(admitted());
}

static void an_instance_counts_the_request_as_one_over_its_engines(void **state)
{
	(void)state;
	hand.pool[0].engines = 4;
	assert_true(admits(9.75, -1, 0));
	assert_false(admits(9.8, -1, 0));
}

static void only_what_is_trusted_and_over_a_hard_limit_may_refuse(void **state)
{
	const struct candidate *candidate = &hand.pool[0];

	(void)state;
	/* 26 with this one, of 25. */
	load(25, -1, 0);
	assert_true(admission_over_hard(&hand.walk, candidate)); /* holds no slot of ours */
	load(24, -1, 0);
	assert_false(admission_over_hard(&hand.walk, candidate));
	load(25, -1, 0);
	hand.pool[0].own = 25;
	assert_false(admission_over_hard(&hand.walk, candidate)); /* no event seen lately */
	average_add(&averages_of(hand.facts.averages, HAND_MAX - 1)->ttft_ms, 100, 30 * SECOND,
	            now - 60 * SECOND);
	hand.targets[HAND_MAX - 1].id = HAND_MAX - 1;
	assert_true(admission_over_hard(&hand.walk, candidate));
	hand.walk.now += SECOND;
	assert_false(admission_over_hard(&hand.walk, candidate));
	ledger_reconcile(hand.facts.ledger, 0, 25, hand.walk.now);
	assert_true(admission_over_hard(&hand.walk, candidate));
	hand.entry.hard.running = 30;
	assert_false(admission_over_hard(&hand.walk, candidate));
}

static void an_old_average_refuses_nobody(void **state)
{
	(void)state;
	load(3, 5001, 0);
	assert_false(admission_over_hard(&hand.walk, &hand.pool[0]));
	average_add(&averages_of(hand.facts.averages, 0)->ttft_ms, 5001, 30 * SECOND,
	            now - 30 * SECOND);
	assert_true(admission_over_hard(&hand.walk, &hand.pool[0]));
	load(3, 5000, 0);
	assert_false(admission_over_hard(&hand.walk, &hand.pool[0]));
	load(3, 5001, 0);
	hand.walk.now = now + 31 * SECOND;
	assert_false(admission_over_hard(&hand.walk, &hand.pool[0]));
}

static void who_said_it_is_busy_may_be_the_reason_of_a_refusal(void **state)
{
	(void)state;
	load(0, -1, 0);
	(void)health_note(hand.facts.health,
	                  &(struct report){ .target = 0, .class = CLASS_BUSY, .retry_after = 7 },
	                  now);
	assert_true(admission_over_hard(&hand.walk, &hand.pool[0]));
	hand.walk.now = now + 7 * SECOND;
	assert_false(admission_over_hard(&hand.walk, &hand.pool[0]));
}

static void the_wait_is_the_excess_by_the_rate_of_releases(void **state)
{
	(void)state;
	load(26, -1, 0);
	assert_true(admission_wait_s(&hand.walk, &hand.pool[0]) == 0);
	for (int i = 0; i < 30; i++)
		assert_true(ledger_release(hand.facts.ledger,
		                           ledger_acquire(hand.facts.ledger, 0, 0, 0, now), now));
	expect_close(admission_wait_s(&hand.walk, &hand.pool[0]), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_table_of_the_specification),
		TEST(every_limit_drops_and_none_is_set_by_default),
		TEST(room_in_the_cache_is_never_relaxed),
		TEST(an_instance_counts_the_request_as_one_over_its_engines),
		TEST(only_what_is_trusted_and_over_a_hard_limit_may_refuse),
		TEST(an_old_average_refuses_nobody),
		TEST(who_said_it_is_busy_may_be_the_reason_of_a_refusal),
		TEST(the_wait_is_the_excess_by_the_rate_of_releases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
