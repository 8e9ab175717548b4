/* test_limits.c - who may still use how much: by the rate, by the burst, at a time, each
 * charged once and given back once. Proves R179, B041, B043, P103. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/state/limits.h"
#include "tests/failing_calloc.h"
#include "tests/near.h"

#define SPAN(text) ((struct span){ (text), strlen(text) })

static struct limit_table *limits;

static int open_table(void **state)
{
	(void)state;
	limits = limits_new(4);
	return limits ? 0 : -1;
}

static int close_table(void **state)
{
	(void)state;
	limits_free(limits);
	return 0;
}

static usec_t at(double seconds)
{
	return 1000 * SECOND + (usec_t)(seconds * 1e6);
}

static struct quota quota_of(double requests, double requests_burst, double tokens,
                             double tokens_burst)
{
	return (struct quota){ .requests = { requests, 1 },
		               .tokens = { tokens, 1 },
		               .requests_burst = requests_burst,
		               .tokens_burst = tokens_burst };
}

static struct limit_check check_of(const struct quota *quota, const char *tenant, double tokens)
{
	struct limit_check check = { .count = 1, .tokens = tokens };

	check.subjects[0] = (struct limit_subject){ .of = LIMIT_OF_TENANT,
		                                    .key = limits_key(LIMIT_OF_TENANT, SPAN(tenant),
		                                                      (struct span){ NULL, 0 }),
		                                    .quota = quota,
		                                    .tenant = SPAN(tenant) };
	return check;
}

static void add_model(struct limit_check *check, const struct quota *quota, const char *model)
{
	check->subjects[check->count++] =
	        (struct limit_subject){ .of = LIMIT_OF_MODEL,
		                        .key = limits_key(LIMIT_OF_MODEL, (struct span){ NULL, 0 },
		                                          SPAN(model)),
		                        .quota = quota,
		                        .model = SPAN(model) };
}

/* Charged, if it may pass. */
static bool pass(struct limit_check *check, double seconds, struct limit_receipt *ret_receipt)
{
	limits_ask(limits, check, at(seconds));
	if (check->refused != LIMIT_NONE)
		return false;
	limits_charge(limits, check, true, at(seconds), ret_receipt);
	return true;
}

static void assert_passes(const struct quota *quota, double tokens, double seconds)
{
	struct limit_check check = check_of(quota, "acme", tokens);
	struct limit_receipt receipt;

	assert_true(pass(&check, seconds, &receipt));
}

static void assert_refused(const struct quota *quota, double tokens, double seconds,
                           enum limit_kind kind, double wait_s)
{
	struct limit_check check = check_of(quota, "acme", tokens);
	struct limit_receipt receipt;

	assert_false(pass(&check, seconds, &receipt));
	assert_int_equal(check.refused, kind);
	assert_int_equal(check.of, LIMIT_OF_TENANT);
	assert_close(check.wait_s, wait_s, 1e-6);
}

/* 60/m, burst 5: one a second. */
static void five_pass_at_once_and_then_one_each_second(void **state)
{
	const struct quota quota = { .requests = { 1, 60 }, .requests_burst = 5 };

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_passes(&quota, 1e9, 0);
	assert_refused(&quota, 0, 0, LIMIT_REQUESTS, 1);
	assert_refused(&quota, 0, 0.25, LIMIT_REQUESTS, 0.75);
	assert_passes(&quota, 0, 1);
	assert_refused(&quota, 0, 1, LIMIT_REQUESTS, 1);
	for (int i = 0; i < 5; i++)
		assert_passes(&quota, 0, 100);
	assert_refused(&quota, 0, 100, LIMIT_REQUESTS, 1);
}

static void the_burst_is_made_of_the_rate_as_it_was_written(void **state)
{
	const struct quota per_second = { .requests = { 3, 1 } };
	const struct quota per_minute = { .requests = { 0.5, 60 } };
	const struct quota slow = { .requests = { 0.01, 60 } };
	int passed = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_passes(&per_second, 0, 0);
	assert_refused(&per_second, 0, 0, LIMIT_REQUESTS, 1.0 / 3);
	for (struct limit_receipt receipt; passed < 100; passed++) {
		struct limit_check check = check_of(&per_minute, "b", 0);

		if (!pass(&check, 0, &receipt))
			break;
	}
	assert_int_equal(passed, 5);
	assert_passes(&slow, 0, 1000);
	assert_refused(&slow, 0, 1000, LIMIT_REQUESTS, 100);
}

/* 1000 tokens a second, burst 10 000. */
static void tokens_are_reserved_and_settled(void **state)
{
	const struct quota quota = quota_of(0, 0, 1000, 10000);
	struct limit_check check = check_of(&quota, "acme", 3256);
	struct limit_receipt receipt;

	(void)state;
	assert_true(pass(&check, 0, &receipt));
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 3.256, 1e-6);
	limits_settle(limits, &receipt, 5000);
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 5, 1e-6);
	assert_passes(&quota, 6000, 1);
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 11, 1e-6);
	assert_refused(&quota, 1000, 1, LIMIT_TOKENS, 1);
	/* What was settled is settled. */
	limits_settle(limits, &receipt, 9000);
	limits_refund(limits, &receipt);
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 11, 1e-6);
}

static void what_is_larger_than_the_burst_pays_the_rest_at_the_end(void **state)
{
	const struct quota quota = quota_of(0, 0, 1000, 10000);
	struct limit_check check = check_of(&quota, "acme", 25000);
	struct limit_receipt receipt;

	(void)state;
	assert_true(pass(&check, 0, &receipt));
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 10, 1e-6);
	limits_settle(limits, &receipt, 25000);
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 25, 1e-6);
	assert_refused(&quota, 1, 14, LIMIT_TOKENS, 1.001);
	assert_refused(&quota, 25000, 24, LIMIT_TOKENS, 1);
	assert_passes(&quota, 25000, 25);
}

static void less_than_expected_is_given_back(void **state)
{
	const struct quota quota = quota_of(0, 0, 1000, 10000);
	struct limit_check check = check_of(&quota, "acme", 9000);
	struct limit_receipt receipt;

	(void)state;
	assert_true(pass(&check, 0, &receipt));
	assert_refused(&quota, 9000, 0, LIMIT_TOKENS, 8);
	limits_settle(limits, &receipt, 500);
	assert_passes(&quota, 9000, 0);
}

static void nothing_is_charged_unless_all_allow(void **state)
{
	const struct quota requests = quota_of(10, 10, 0, 0), tokens = quota_of(0, 0, 100, 100);
	struct limit_check check = check_of(&requests, "acme", 80);
	struct limit_left left;
	struct limit_receipt receipt;

	(void)state;
	add_model(&check, &tokens, "m");
	assert_true(pass(&check, 0, &receipt));
	assert_int_equal(receipt.count, 2);
	for (int i = 0; i < 20; i++) {
		assert_false(pass(&check, 0, &receipt));
		assert_int_equal(check.refused, LIMIT_TOKENS);
		assert_int_equal(check.of, LIMIT_OF_MODEL);
		assert_close(check.wait_s, 0.6, 1e-6);
	}
	left = limits_left(limits, &check, LIMIT_REQUESTS, at(0));
	assert_true(left.limited);
	assert_close(left.limit, 10, 0);
	assert_close(left.left, 9, 1e-6);
	assert_close(left.reset_s, 0.1, 1e-6);
	left = limits_left(limits, &check, LIMIT_TOKENS, at(0.3));
	assert_close(left.limit, 100, 0);
	assert_close(left.left, 50, 1e-6);
	assert_close(left.reset_s, 0.5, 1e-6);
}

/* Whoever refuses longest is the one to name. */
static void of_several_that_refuse_the_longest_wait_counts(void **state)
{
	const struct quota fast = quota_of(10, 1, 0, 0), slow = quota_of(1, 1, 10, 1);
	struct limit_check check = check_of(&fast, "acme", 1);
	struct limit_receipt receipt;

	(void)state;
	add_model(&check, &slow, "m");
	assert_true(pass(&check, 0, &receipt));
	assert_false(pass(&check, 0, &receipt));
	assert_int_equal(check.of, LIMIT_OF_MODEL);
	assert_int_equal(check.refused, LIMIT_REQUESTS);
	assert_close(check.wait_s, 1, 1e-6);
	assert_false(limits_left(limits, &check, LIMIT_TOKENS, at(0)).left > 0);
	assert_false(limits_left(limits, &check, LIMIT_REQUESTS, at(0)).left > 0);
	assert_false(pass(&check, 0.95, &receipt));
	assert_close(check.wait_s, 0.05, 1e-6);
	assert_true(pass(&check, 1, &receipt));
}

static void the_smallest_part_left_is_told(void **state)
{
	const struct quota large = quota_of(0, 0, 100, 1000), small = quota_of(0, 0, 100, 200);
	struct limit_check check = check_of(&large, "acme", 150);
	struct limit_receipt receipt;

	(void)state;
	assert_false(limits_left(limits, &check, LIMIT_REQUESTS, at(0)).limited);
	assert_close(limits_left(limits, &check, LIMIT_TOKENS, at(0)).left, 1000, 0);
	add_model(&check, &small, "m");
	assert_true(pass(&check, 0, &receipt));
	assert_close(limits_left(limits, &check, LIMIT_TOKENS, at(0)).limit, 200, 0);
	assert_close(limits_left(limits, &check, LIMIT_TOKENS, at(0)).left, 50, 1e-6);
	limits_settle(limits, &receipt, 400);
	assert_close(limits_left(limits, &check, LIMIT_TOKENS, at(0)).left, 0, 0);
	assert_close(limits_left(limits, &check, LIMIT_TOKENS, at(0)).reset_s, 4, 1e-6);
	assert_close(limits_left(limits, &check, LIMIT_TOKENS, at(9)).reset_s, 0, 0);
}

static void a_cap_is_a_cap_to_the_end(void **state)
{
	const struct quota quota = { .max_inflight = 4 };
	struct limit_check check = check_of(&quota, "acme", 100);
	struct limit_receipt receipts[4], none;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_true(pass(&check, 0, &receipts[i]));
	for (int i = 0; i < 20; i++) {
		assert_false(pass(&check, i, &none));
		assert_int_equal(check.refused, LIMIT_INFLIGHT);
		assert_close(check.wait_s, 0, 0);
	}
	assert_int_equal(limits_at(limits, 0, at(0)).inflight, 4);
	assert_int_equal(limits_at(limits, 0, at(0)).max_inflight, 4);
	limits_settle(limits, &receipts[2], 100);
	limits_settle(limits, &receipts[2], 100);
	limits_release(limits, &receipts[2]);
	limits_refund(limits, &receipts[2]);
	assert_int_equal(limits_at(limits, 0, at(0)).inflight, 3);
	assert_true(pass(&check, 1, &receipts[2]));
	limits_release(limits, &receipts[3]);
	limits_release(limits, &receipts[3]);
	assert_int_equal(limits_at(limits, 0, at(1)).inflight, 3);
	assert_true(pass(&check, 1, &receipts[3]));
	assert_false(pass(&check, 1, &none));
}

static void who_is_not_served_pays_nothing(void **state)
{
	const struct quota quota = {
		.requests = { 1, 1 }, .tokens = { 10, 1 }, .tokens_burst = 100, .max_inflight = 1
	};
	struct limit_check check = check_of(&quota, "acme", 500);
	struct limit_receipt receipt;

	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_true(pass(&check, 0, &receipt));
		limits_refund(limits, &receipt);
		limits_refund(limits, &receipt);
	}
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_REQUESTS], 0, 1e-6);
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 0, 1e-6);
	assert_int_equal(limits_at(limits, 0, at(0)).inflight, 0);
}

/* A charge without a slot can never be heard of again. */
static void what_has_no_slot_is_charged_but_not_counted_as_open(void **state)
{
	const struct quota quota = { .requests = { 2, 1 }, .max_inflight = 1 };
	struct limit_check check = check_of(&quota, "acme", 0);
	struct limit_receipt receipt;

	(void)state;
	limits_ask(limits, &check, at(0));
	limits_charge(limits, &check, false, at(0), &receipt);
	assert_int_equal(limits_at(limits, 0, at(0)).inflight, 0);
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_REQUESTS], 0.5, 1e-6);
	limits_release(limits, &receipt);
	limits_settle(limits, &receipt, 0);
}

static void a_newcomer_takes_the_place_of_one_that_is_idle(void **state)
{
	const struct quota quota = quota_of(1, 1, 0, 0);
	struct limit_receipt receipts[8];
	char name[] = "t0";

	(void)state;
	/* Three that come back to rest in a second, and one that stays open. */
	for (int i = 0; i < 4; i++) {
		struct limit_check check;

		name[1] = (char)('0' + i);
		check = check_of(&quota, name, 0);
		assert_true(pass(&check, 0, &receipts[i]));
		if (i != 2)
			limits_settle(limits, &receipts[i], 0);
	}
	assert_int_equal(limits_count(limits), 4);
	/* All are in use: the fifth is not limited, and counted. */
	for (int i = 4; i < 6; i++) {
		struct limit_check check = check_of(&quota, "fifth", 0);

		assert_true(pass(&check, 0.5, &receipts[i]));
		assert_int_equal(receipts[i].count, 0);
	}
	assert_int_equal(limits_full(limits), 2);
	for (int i = 4; i < 7; i++) {
		struct limit_check check;

		name[1] = (char)('0' + i);
		check = check_of(&quota, name, 0);
		assert_true(pass(&check, 2, &receipts[i]));
		assert_int_equal(receipts[i].count, 1);
		assert_false(pass(&check, 2, &receipts[7]));
	}
	assert_int_equal(limits_full(limits), 2);
	assert_int_equal(limits_count(limits), 4);
	assert_string_equal(limits_at(limits, 2, at(2)).tenant, "t2");
	assert_int_equal(limits_at(limits, 2, at(2)).inflight, 1);
	limits_settle(limits, &receipts[2], 0);
}

static void subjects_do_not_get_into_each_others_way(void **state)
{
	const struct span none = { NULL, 0 };

	(void)state;
	assert_true(limits_key(LIMIT_OF_TENANT, SPAN("a"), none) !=
	            limits_key(LIMIT_OF_MODEL, none, SPAN("a")));
	assert_true(limits_key(LIMIT_OF_BOTH, SPAN("a"), SPAN("b")) !=
	            limits_key(LIMIT_OF_BOTH, SPAN("b"), SPAN("a")));
	assert_true(limits_key(LIMIT_OF_BOTH, SPAN("a"), SPAN("b")) !=
	            limits_key(LIMIT_OF_BOTH, SPAN("ab"), none));
	assert_true(limits_key(LIMIT_OF_TENANT, SPAN("a"), SPAN("m")) ==
	            limits_key(LIMIT_OF_TENANT, SPAN("a"), none));
	assert_int_not_equal(limits_key(LIMIT_OF_TENANT, none, none), 0);
}

/* A policy that limits something else from now on. */
static void a_new_quota_counts_from_the_next_request_on(void **state)
{
	const struct quota before = quota_of(1, 1, 0, 0), after = quota_of(0, 0, 10, 100);
	struct limit_check check = check_of(&before, "acme", 50);
	struct limit_receipt first, second;

	(void)state;
	assert_true(pass(&check, 0, &first));
	check.subjects[0].quota = &after;
	assert_true(pass(&check, 0, &second));
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 5, 1e-6);
	limits_settle(limits, &first, 10);
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 6, 1e-6);
	limits_refund(limits, &second);
	assert_close(limits_at(limits, 0, at(0)).reset_s[LIMIT_TOKENS], 1, 1e-6);
}

static void no_memory_is_told(void **state)
{
	(void)state;
	for (int i = 1; i <= 3; i++) {
		failing = i;
		assert_null(limits_new(4));
	}
	failing = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_table, close_table)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(five_pass_at_once_and_then_one_each_second),
		TEST(the_burst_is_made_of_the_rate_as_it_was_written),
		TEST(tokens_are_reserved_and_settled),
		TEST(what_is_larger_than_the_burst_pays_the_rest_at_the_end),
		TEST(less_than_expected_is_given_back),
		TEST(nothing_is_charged_unless_all_allow),
		TEST(of_several_that_refuse_the_longest_wait_counts),
		TEST(the_smallest_part_left_is_told),
		TEST(a_cap_is_a_cap_to_the_end),
		TEST(who_is_not_served_pays_nothing),
		TEST(what_has_no_slot_is_charged_but_not_counted_as_open),
		TEST(a_newcomer_takes_the_place_of_one_that_is_idle),
		TEST(subjects_do_not_get_into_each_others_way),
		TEST(a_new_quota_counts_from_the_next_request_on),
		TEST(no_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
