/* test_answers.c - how long answers are, in tokens and in bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/answers.h"
#include "tests/failing_calloc.h"
#include "tests/near.h"

static int open_answers(void **state)
{
	*state = answers_new(2);
	return *state ? 0 : -1;
}

static int close_answers(void **state)
{
	answers_free(*state);
	return 0;
}

static void grow(struct answers *answers, double generated, double finished, usec_t now)
{
	struct growth growth = { .seconds = 1, .generated = generated, .finished = finished };

	answers_learn(answers, 1, &growth, now);
}

static double tokens(struct answers *answers, usec_t now)
{
	double value = -1;

	(void)answers_tokens(answers, 1, now, &value);
	return value;
}

static double bytes(struct answers *answers)
{
	double value = -1;

	(void)answers_bytes_per_token(answers, 1, &value);
	return value;
}

static void tokens_are_counted_until_something_finishes(void **state)
{
	grow(*state, 300, 0, SECOND);
	assert_near(tokens(*state, SECOND), -1);
	grow(*state, 500, 2, SECOND);
	assert_near(tokens(*state, SECOND), 400);
	grow(*state, -1, 5, SECOND);
	assert_near(tokens(*state, SECOND), 400);
	grow(*state, 100, 2, SECOND);
	assert_near(tokens(*state, SECOND), 225);
	assert_near(tokens(*state, 301 * SECOND), 225);
	assert_near(tokens(*state, 301 * SECOND + 1), -1);
}

static void older_answers_fade(void **state)
{
	double kept = exp(-1);

	grow(*state, 400, 1, SECOND);
	grow(*state, 100, 1, 601 * SECOND);
	assert_near(tokens(*state, 601 * SECOND), (400 * kept + 100) / (kept + 1));
}

/* The agent sees half of the streams: the ratio is of means. */
static void bytes_per_token_do_not_depend_on_how_many_we_see(void **state)
{
	grow(*state, 999, 4, SECOND);
	answers_sent(*state, 1, 1200, SECOND);
	answers_sent(*state, 1, 800, SECOND);
	assert_near(bytes(*state), -1);
	grow(*state, 1, 0, SECOND);
	assert_near(bytes(*state), 1000 / (999 / 4.0));
}

static void without_an_end_there_is_no_ratio(void **state)
{
	grow(*state, 5000, 4, SECOND);
	assert_near(bytes(*state), -1);
	answers_sent(*state, 1, 5000, SECOND);
	assert_near(bytes(*state), 4);
	answers_forget(*state, 1);
	assert_near(bytes(*state), -1);
	assert_near(tokens(*state, SECOND), -1);
}

static void engines_that_count_no_ends_are_compared_by_sums(void **state)
{
	double kept = exp(-1);

	grow(*state, 2000, -1, SECOND);
	answers_sent(*state, 1, 6000, SECOND);
	assert_near(bytes(*state), 3);
	assert_near(tokens(*state, SECOND), -1);
	grow(*state, 1000, -1, 601 * SECOND);
	answers_sent(*state, 1, 9000, 601 * SECOND);
	assert_near(bytes(*state), (6000 * kept + 9000) / (2000 * kept + 1000));
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(answers_new(2));
	}
	assert_int_equal(failing, 0);
	answers_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_answers, close_answers)

int main(void)
{
	const struct CMUnitTest answers[] = {
		TEST(tokens_are_counted_until_something_finishes),
		TEST(older_answers_fade),
		TEST(bytes_per_token_do_not_depend_on_how_many_we_see),
		TEST(without_an_end_there_is_no_ratio),
		TEST(engines_that_count_no_ends_are_compared_by_sums),
		TEST(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(answers, NULL, NULL);
}
