/* test_balance.c - load by capacity and cache. Proves R147, B031; and with the gate B068. */
#include <math.h>

#include "policies/signals/balance.h"
#include "policies/signals/signals.h"
#include "tests/policies/hand.h"

static struct hand hand;

/* A, B, D of the specification. */
static int fresh(void **state)
{
	(void)state;
	hand_make(&hand, "load-balance", 3);
	hand_running(&hand, (double[]){ 10, 4, 2 });
	hand_capacity(&hand, 0, 2000);
	hand_capacity(&hand, 1, 500);
	hand_page(&hand, 0, -1, 0.5);
	hand_page(&hand, 1, -1, 0.5);
	hand_page(&hand, 2, -1, 0.95);
	return 0;
}

static void expect(double a, double b, double d)
{
	const double expected[] = { a, b, d };
	double values[HAND_MAX];

	signal_load_balance.read_all(&hand.walk, values);
	for (size_t i = 0; i < 3; i++) {
		if (isinf(expected[i]))
			assert_true(isinf(values[i]));
		else
			expect_close(values[i], expected[i]);
	}
}

static void the_example_of_the_specification(void **state)
{
	(void)state;
	expect(10.3125, 18.75, (double)INFINITY);
	hand_run(&hand, &stage_score);
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 0);
	hand_page(&hand, 2, -1, -1);
	expect(10.3125, 18.75, 3);
	hand_run(&hand, &stage_score);
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 2);
}

static void where_all_are_full_the_cache_counts_for_nobody(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		hand_page(&hand, i, -1, 0.95);
	expect(6.875, 12.5, 3);
	hand_page(&hand, 0, -1, 0.9); /* just not critical */
	expect(6.875 * (1 + 2 * 0.81), (double)INFINITY, (double)INFINITY);
}

static void who_is_critical_the_policy_says(void **state)
{
	(void)state;
	hand_page(&hand, 2, -1, -1);
	hand.entry.balance_critical = 0.6;
	expect((double)INFINITY, (double)INFINITY, 3);
	hand.entry.balance_critical = 0.5;
	hand.entry.balance_kv = 4;
	expect(11 / 1.6 * 2, 5 / 0.4 * 2, 3);
}

static void what_waits_counts_where_the_policy_says_so(void **state)
{
	(void)state;
	hand_page(&hand, 0, 3, 0);
	hand_page(&hand, 1, 0, 0);
	hand_page(&hand, 2, 5, 0);
	expect(11 / 1.6, 5 / 0.4, 3);
	hand.entry.balance_pending = 2;
	expect(17 / 1.6, 5 / 0.4, 13);
}

static void a_page_too_old_says_nothing(void **state)
{
	(void)state;
	hand.walk.now = 24 * SECOND;
	expect(11 / 1.6, 5 / 0.4, 3);
}

/* Nobody's capacity is known: HAProxy's weights, which running_scored is divided by. */
static void without_capacities_weights_count(void **state)
{
	double values[HAND_MAX];

	(void)state;
	hand_make(&hand, "load-balance", 2);
	hand_running(&hand, (double[]){ 4, 4 });
	hand.replicas[0].weight = 3;
	hand.walk.weight_mean = 2;
	hand.pool[0].running_scored = 4 * 2.0 / 3;
	hand.pool[1].running_scored = 8;
	signal_load_balance.read_all(&hand.walk, values);
	expect_close(values[0], 5 * 2.0 / 3);
	expect_close(values[1], 10);
}

/* With capacities the weights do not count: they were a guess at the same. */
static void with_capacities_weights_do_not_count(void **state)
{
	struct balance balance;

	(void)state;
	hand_make(&hand, "load-balance", 2);
	hand_running(&hand, (double[]){ 4, 4 });
	hand.replicas[0].weight = 3;
	hand.walk.weight_mean = 2;
	hand.pool[0].running_scored = 4 * 2.0 / 3;
	hand.pool[1].running_scored = 8;
	hand_capacity(&hand, 0, 1000);
	hand_capacity(&hand, 1, 3000);
	balance = balance_of(&hand.walk, false);
	assert_true(balance.all_known);
	expect_close(balance_running(&balance, &hand.walk, &hand.pool[0]), 8);
	expect_close(balance_running(&balance, &hand.walk, &hand.pool[1]), 4 / 1.5);
	expect_close(balance_load(&balance, &hand.walk, &hand.pool[0]), 10);
}

/* Twice the requests on twice the engine are no imbalance. */
static void the_gate_compares_by_capacity_where_all_are_known(void **state)
{
	(void)state;
	for (int known = 1; known <= 4; known++) {
		hand_make(&hand, "least-request", 4);
		hand_running(&hand, (double[]){ 16, 4, 4, 4 });
		for (int i = 0; i < known; i++)
			hand_capacity(&hand, (size_t)i, i == 0 ? 4000 : 1000);
		hand_run(&hand, &stage_imbalance);
		assert_int_equal(hand.walk.gated, known < 4);
		assert_int_equal(hand.walk.standing, known < 4 ? 3 : 4);
	}
	hand_make(&hand, "prefix-cache", 4);
	hand_running(&hand, (double[]){ 12, 3, 4, 3 });
	for (size_t i = 0; i < 4; i++)
		hand_capacity(&hand, i, i == 0 ? 4000 : 1000);
	hand_run(&hand, &stage_imbalance);
	assert_int_equal(hand.walk.standing, 3); /* sigma: 5.25, 5.25, 7, 5.25; so the third */
	assert_false(hand_stands(&hand, 2));
}

/* An instance is the mean of those replicas that may be used. */
static void an_instance_is_read_from_its_replicas(void **state)
{
	double values[HAND_MAX];
	struct instance other = { .replicas = &hand.replicas[2], .replica_count = 1, .weight = 1 };

	(void)state;
	hand_make(&hand, "load-balance", 3);
	hand.instance.replicas = hand.replicas;
	hand.instance.replica_count = 2;
	other.target = &hand.targets[30];
	hand.walk.level = 1;
	hand.walk.count = hand.walk.standing = 2;
	hand.pool[0].replica = hand.pool[1].replica = NULL;
	hand.pool[1].instance = &other;
	hand.pool[0].engines = 2;
	hand_running(&hand, (double[]){ 3, 3 });
	hand_capacity(&hand, 0, 1000);
	hand_capacity(&hand, 1, 3000);
	hand_capacity(&hand, 2, 1000);
	hand_page(&hand, 0, -1, 0.5);
	hand_page(&hand, 1, -1, 0.7);
	signal_load_balance.read_all(&hand.walk, values);
	expect_close(values[0], 3.5 / (2000 / 1500.0) * (1 + 2 * 0.36));
	expect_close(values[1], 4 / (1000 / 1500.0));
	hand.replicas[1].up = false;
	signal_load_balance.read_all(&hand.walk, values);
	expect_close(values[0], 3.5 * (1 + 2 * 0.25));
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_example_of_the_specification),
		TEST(where_all_are_full_the_cache_counts_for_nobody),
		TEST(who_is_critical_the_policy_says),
		TEST(what_waits_counts_where_the_policy_says_so),
		TEST(a_page_too_old_says_nothing),
		TEST(without_capacities_weights_count),
		TEST(with_capacities_weights_do_not_count),
		TEST(the_gate_compares_by_capacity_where_all_are_known),
		TEST(an_instance_is_read_from_its_replicas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
