/* test_average.c - averages by age. Proves R047, P091 in part: docs/strategies.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/average.h"
#include "tests/failing_calloc.h"
#include "tests/near.h"

static struct average of_the_specification(void)
{
	struct average average = { 0 };

	average_add(&average, 200, 30 * SECOND, 0);
	assert_near(average.weight, 1);
	assert_near(average.value, 200);
	average_add(&average, 400, 30 * SECOND, 1 * SECOND);
	assert_near(average.weight, 1.967216);
	assert_near(average.value, 301.666512);
	average_add(&average, 100, 30 * SECOND, 31 * SECOND);
	assert_near(average.weight, 1.723698);
	assert_near(average.value, 184.670107);
	average_add(&average, 100, 30 * SECOND, 31 * SECOND);
	assert_near(average.weight, 2.723698);
	assert_near(average.value, 153.583659);
	return average;
}

static void bursts_average_and_old_samples_fade(void **state)
{
	(void)state;
	(void)of_the_specification();
}

/* As if it had not been, whatever came after it. */
static void a_sample_can_be_taken_back(void **state)
{
	struct average average = { 0 };
	double value;

	(void)state;
	average_add(&average, 200, 30 * SECOND, 0);
	average_add(&average, 400, 30 * SECOND, 1 * SECOND);
	average_remove(&average, 200, 30 * SECOND, 0);
	assert_near(average.weight, 1);
	assert_near(average.value, 400);
	average_remove(&average, 400, 30 * SECOND, 1 * SECOND);
	assert_false(average_plain(&average, 1 * SECOND, &value));
	average_remove(&average, 400, 30 * SECOND, 1 * SECOND); /* there is none */
	average_add(&average, 300, 30 * SECOND, 2 * SECOND);
	assert_true(average_plain(&average, 2 * SECOND, &value));
	assert_near(value, 300);
}

static double at_age(const struct average *average, usec_t seconds)
{
	double value = -1;

	assert_true(average_read(average, 500, (31 + seconds) * SECOND, &value));
	return value;
}

static void an_idle_value_drifts_to_the_others_and_is_forgotten(void **state)
{
	struct average average = of_the_specification();
	double value = 7;

	(void)state;
	assert_near(at_age(&average, 0), 153.583659);
	assert_near(at_age(&average, 30), 255.046656);
	assert_near(at_age(&average, 60), 326.791830);
	assert_near(at_age(&average, 150), 438.761664);
	assert_near(at_age(&average, 300), 489.174489);
	assert_false(average_read(&average, 500, 332 * SECOND, &value));
	assert_false(average_plain(&average, 332 * SECOND, &value));
	assert_near(value, 7);
	assert_true(average_read(&average, -1, 331 * SECOND, &value));
	assert_near(value, 153.583659);
	assert_true(average_plain(&average, 331 * SECOND, &value));
	assert_near(value, 153.583659);
}

static void only_a_young_value_may_refuse(void **state)
{
	struct average average = of_the_specification();
	struct average none = { 0 };

	(void)state;
	assert_true(average_trusted(&average, 91 * SECOND));
	assert_false(average_trusted(&average, 91 * SECOND + 1));
	assert_false(average_trusted(&none, 0));
}

static void nothing_is_known_without_a_sample(void **state)
{
	struct average none = { 0 };
	double value = 7;

	(void)state;
	assert_false(average_plain(&none, 0, &value));
	assert_false(average_read(&none, 500, 0, &value));
	average_add_many(&none, 5, 0, 30 * SECOND, 0);
	assert_false(average_plain(&none, 0, &value));
	assert_near(value, 7);
}

static void many_samples_weigh_as_many(void **state)
{
	struct average one = { 0 };
	struct average many = { 0 };

	(void)state;
	for (int i = 0; i < 5; i++)
		average_add(&one, 10, 30 * SECOND, 0);
	for (int i = 0; i < 3; i++)
		average_add(&one, 50, 30 * SECOND, 10 * SECOND);
	average_add_many(&many, 10, 5, 30 * SECOND, 0);
	average_add_many(&many, 50, 3, 30 * SECOND, 10 * SECOND);
	assert_near(many.value, one.value);
	assert_near(many.weight, one.weight);
}

static void each_target_has_its_own(void **state)
{
	struct averages *averages = averages_new(2);
	double value;

	(void)state;
	assert_non_null(averages);
	average_add(&averages_of(averages, 1)->ttft_ms, 5, SECOND, SECOND);
	assert_false(average_plain(&averages_of(averages, 0)->ttft_ms, SECOND, &value));
	assert_true(average_plain(&averages_of(averages, 1)->ttft_ms, SECOND, &value));
	averages_forget(averages, 1);
	assert_false(average_plain(&averages_of(averages, 1)->ttft_ms, SECOND, &value));
	averages_free(averages);
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(averages_new(2));
	}
	assert_int_equal(failing, 0);
	averages_free(NULL);
}

int main(void)
{
	const struct CMUnitTest average[] = {
		cmocka_unit_test(bursts_average_and_old_samples_fade),
		cmocka_unit_test(a_sample_can_be_taken_back),
		cmocka_unit_test(an_idle_value_drifts_to_the_others_and_is_forgotten),
		cmocka_unit_test(only_a_young_value_may_refuse),
		cmocka_unit_test(nothing_is_known_without_a_sample),
		cmocka_unit_test(many_samples_weigh_as_many),
		cmocka_unit_test(each_target_has_its_own),
		cmocka_unit_test(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(average, NULL, NULL);
}
