/* test_fairness.c - each caller has a place among the targets, by what it had lately. Proves
 * R154. */
#include <math.h>
#include <stdio.h>

#include "policies/signals/signals.h"
#include "tests/policies/hand.h"

static struct hand hand;
static struct tenants *tenants;

static void charge(const char *name, double tokens)
{
	tenants_charge(tenants, tenant_key(SPAN(name)), SPAN(name), tokens, 0, hand.walk.now);
}

static void ask(const char *name)
{
	hand.walk.tenant = tenant_key(SPAN(name));
}

/* Four targets that do not lie in the order of their addresses. */
static int start(void **state)
{
	static const char *const labels[] = { "10.0.0.3:80", "10.0.0.1:80", "10.0.0.4:80",
		                              "10.0.0.2:80" };

	(void)state;
	hand_make(&hand, "vtc-basic", 4);
	tenants = tenants_new(100);
	hand.facts.tenants = tenants;
	hand.walk.now = 1000 * SECOND;
	for (size_t i = 0; i < 4; i++)
		strcpy(hand.targets[i].label, labels[i]);
	return tenants ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	tenants_free(tenants);
	return 0;
}

static void expect_all(double a, double b, double c, double d)
{
	const double expected[] = { a, b, c, d };
	double values[4];

	signal_fairness.read_all(&hand.walk, values);
	for (size_t i = 0; i < 4; i++)
		expect_close(values[i], expected[i]);
}

/* V 1000 and 12 000; bucket 6500, place 1.846154. In order of addresses: 20, 10, 40, 5 running. */
static void the_example_of_the_specification(void **state)
{
	(void)state;
	charge("light", 1000);
	charge("heavy", 12000);
	tenants_look(tenants, hand.walk.now + 100 * MSEC);
	ask("heavy");
	expect_all(0.153846 / 3, 1.846154 / 3, 1.153846 / 3, 0.846154 / 3);
	hand_running(&hand, (double[]){ 40, 20, 5, 10 });
	hand_run(&hand, &stage_score);
	expect_close(hand.pool[1].score, 0.592308);
	expect_close(hand.pool[3].score, 0.808974);
	expect_close(hand.pool[0].score, 0.774359);
	expect_close(hand.pool[2].score, 0.782692);
	assert_int_equal(picker_best.pick(&hand.walk, NULL), 3);
	ask("light");
	expect_all((2 - 1000.0 / 6500) / 3, 1000.0 / 6500 / 3, (3 - 1000.0 / 6500) / 3,
	           (1 - 1000.0 / 6500) / 3);
}

static void who_had_most_has_the_last_place_and_who_had_nothing_the_first(void **state)
{
	(void)state;
	charge("a", 1000);
	charge("b", 1e9);
	tenants_look(tenants, hand.walk.now + 100 * MSEC);
	ask("new");
	expect_all(2.0 / 3, 0, 1, 1.0 / 3);
	ask("b"); /* the mean is half of it: place 2 */
	expect_all(0, 2.0 / 3, 1.0 / 3, 1.0 / 3);
	hand.walk.standing = 2; /* the last place is 1 */
	ask("b");
	signal_fairness.read_all(&hand.walk, hand.values);
	expect_close(hand.values[0], 0);
	expect_close(hand.values[1], 1);
}

/* Few tokens are few, however few the others have. */
static void the_bucket_is_a_thousand_at_least(void **state)
{
	(void)state;
	charge("a", 10);
	charge("b", 500);
	tenants_look(tenants, hand.walk.now + 100 * MSEC);
	ask("b");
	expect_all(1.5 / 3, 0.5 / 3, 2.5 / 3, 0.5 / 3);
}

/* When all are gone for a minute the bucket is 4000. */
static void without_active_callers_there_is_a_bucket_all_the_same(void **state)
{
	(void)state;
	charge("a", 8000 * exp(0.5));
	hand.walk.now += 150 * SECOND;
	tenants_look(tenants, hand.walk.now);
	ask("a");
	expect_all(0, 2.0 / 3, 1.0 / 3, 1.0 / 3);
}

static void nobody_has_no_place(void **state)
{
	double values[4] = { 0 };

	(void)state;
	hand.walk.tenant = 0;
	signal_fairness.read_all(&hand.walk, values);
	for (size_t i = 0; i < 4; i++)
		assert_true(isnan(values[i]));
}

static void one_alone_is_as_good_as_any(void **state)
{
	double value = 7;

	(void)state;
	charge("a", 1000);
	ask("a");
	hand.walk.standing = 1;
	signal_fairness.read_all(&hand.walk, &value);
	expect_close(value, 0);
}

/* However they are shuffled, the same caller has the same place. */
static void the_order_is_of_the_addresses_not_of_the_pool(void **state)
{
	struct rng rng = { 5 };
	uint32_t order[HAND_MAX];
	double values[HAND_MAX];

	(void)state;
	hand_make(&hand, "vtc-basic", HAND_MAX);
	hand.facts.tenants = tenants;
	hand.walk.now = 1000 * SECOND;
	ask("new");
	for (uint32_t i = 0; i < HAND_MAX; i++) {
		(void)snprintf(hand.targets[i].label, NAME_MAX_BYTES, "10.0.0.%02u:80", i);
		order[i] = i;
	}
	for (int round = 0; round < 200; round++) {
		size_t count = 1 + rng_below(&rng, HAND_MAX);
		size_t place = 0;

		rng_shuffle(&rng, order, HAND_MAX);
		for (size_t i = 0; i < HAND_MAX; i++)
			hand.pool[i].target = &hand.targets[order[i]];
		hand.walk.standing = count;
		signal_fairness.read_all(&hand.walk, values);
		for (size_t i = 0; i < count; i++) {
			place = 0;
			for (size_t k = 0; k < count; k++)
				place += order[k] < order[i];
			expect_close(values[i],
			             count > 1 ? (double)place / (double)(count - 1) : 0);
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_example_of_the_specification),
		TEST(who_had_most_has_the_last_place_and_who_had_nothing_the_first),
		TEST(the_bucket_is_a_thousand_at_least),
		TEST(without_active_callers_there_is_a_bucket_all_the_same),
		TEST(nobody_has_no_place),
		TEST(one_alone_is_as_good_as_any),
		TEST(the_order_is_of_the_addresses_not_of_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
