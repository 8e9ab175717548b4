/* test_health.c - what failures leave behind: docs/strategies.md, failures and health
 * as far as there is no ejection yet. Proves R055 in part. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/defaults.h"
#include "policies/state/health.h"
#include "tests/failing_calloc.h"

enum { ANNA, BERT, TARGETS };

static struct policy policy;
static int open_health(void **state)
{
	policy_default(&policy);
	*state = health_new(TARGETS, &policy.health);
	return *state ? 0 : -1;
}

static int close_health(void **state)
{
	health_free(*state);
	return 0;
}

static void note(void *health, enum outcome_class class, usec_t now)
{
	(void)health_note(health, &(struct report){ .target = ANNA, .class = class }, now);
}

static void assert_failures(void *health, usec_t now, double expected)
{
	assert_true(fabs(health_failures(health, ANNA, now) - expected) < 1e-6);
}

static void failures_are_a_share_that_fades(void **state)
{
	assert_failures(*state, 0, 0);
	note(*state, CLASS_FAILURE, SECOND);
	assert_failures(*state, SECOND, 1.0 / 3);
	note(*state, CLASS_FAILURE, SECOND);
	note(*state, CLASS_FAILURE, SECOND);
	assert_failures(*state, SECOND, 0.6);
	assert_failures(*state, 31 * SECOND, 0.355595);
	assert_true(health_failures(*state, BERT, SECOND) == 0);
}

static void good_answers_count_and_others_say_nothing(void **state)
{
	note(*state, CLASS_FAILURE, SECOND);
	note(*state, CLASS_CLIENT, SECOND);
	note(*state, CLASS_LOCAL, SECOND);
	assert_failures(*state, SECOND, 1.0 / 3);
	note(*state, CLASS_OK, SECOND);
	assert_failures(*state, SECOND, 0.25);
	note(*state, CLASS_BUSY, SECOND);
	assert_failures(*state, SECOND, 0.2);
}

static void a_busy_answer_of_one_that_finishes_nothing_is_a_failure(void **state)
{
	note(*state, CLASS_BUSY, SECOND);
	assert_failures(*state, SECOND, 0);
	note(*state, CLASS_OK, 1000 * SECOND);
	note(*state, CLASS_BUSY, 1010 * SECOND);
	assert_failures(*state, 1010 * SECOND, 0);
	note(*state, CLASS_BUSY, 1010 * SECOND + 1);
	assert_true(health_failures(*state, ANNA, 1010 * SECOND + 1) > 0.1);
}

static void a_refused_connection_makes_suspect_for_a_second(void **state)
{
	note(*state, CLASS_FAILURE, 5 * SECOND);
	assert_false(health_suspect(*state, ANNA, 5 * SECOND));
	(void)health_note(
	        *state, &(struct report){ .target = ANNA, .class = CLASS_FAILURE, .connect = true },
	        5 * SECOND);
	assert_true(health_suspect(*state, ANNA, 6 * SECOND - 1));
	assert_false(health_suspect(*state, ANNA, 6 * SECOND));
	assert_false(health_suspect(*state, BERT, 5 * SECOND));
}

static void a_busy_engine_is_left_alone_as_long_as_it_asks(void **state)
{
	(void)health_note(*state,
	                  &(struct report){ .target = ANNA, .class = CLASS_BUSY, .retry_after = 7 },
	                  SECOND);
	assert_true(health_backing_off(*state, ANNA, 8 * SECOND - 1));
	assert_false(health_backing_off(*state, ANNA, 8 * SECOND));
	assert_false(health_suspect(*state, ANNA, SECOND));
	(void)health_note(*state, &(struct report){ .target = ANNA, .class = CLASS_BUSY },
	                  20 * SECOND);
	assert_true(health_backing_off(*state, ANNA, 21 * SECOND - 1));
	assert_false(health_backing_off(*state, ANNA, 21 * SECOND));
	(void)health_note(
	        *state,
	        &(struct report){ .target = ANNA, .class = CLASS_BUSY, .retry_after = 3600 },
	        30 * SECOND);
	(void)health_note(*state,
	                  &(struct report){ .target = ANNA, .class = CLASS_BUSY, .retry_after = 1 },
	                  30 * SECOND); /* takes nothing back */
	assert_true(health_backing_off(*state, ANNA, 40 * SECOND - 1));
	assert_false(health_backing_off(*state, ANNA, 40 * SECOND));
}

static void a_forgotten_target_is_well(void **state)
{
	(void)health_note(
	        *state, &(struct report){ .target = ANNA, .class = CLASS_FAILURE, .connect = true },
	        SECOND);
	(void)health_note(*state,
	                  &(struct report){ .target = ANNA, .class = CLASS_BUSY, .retry_after = 9 },
	                  SECOND);
	health_forget(*state, ANNA);
	assert_false(health_suspect(*state, ANNA, SECOND));
	assert_false(health_backing_off(*state, ANNA, SECOND));
	assert_failures(*state, SECOND, 0);
}

static void without_memory_there_is_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(health_new(TARGETS, &policy.health));
	}
	assert_int_equal(failing, 0);
	health_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_health, close_health)

int main(void)
{
	const struct CMUnitTest health[] = {
		TEST(failures_are_a_share_that_fades),
		TEST(good_answers_count_and_others_say_nothing),
		TEST(a_busy_answer_of_one_that_finishes_nothing_is_a_failure),
		TEST(a_refused_connection_makes_suspect_for_a_second),
		TEST(a_busy_engine_is_left_alone_as_long_as_it_asks),
		TEST(a_forgotten_target_is_well),
		TEST(without_memory_there_is_none_and_no_leak),
	};

	return cmocka_run_group_tests(health, NULL, NULL);
}
