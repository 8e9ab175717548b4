/* test_counters.c - histograms and their bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/counters.h"
#include "tests/failing_calloc.h"

static void a_bound_belongs_to_its_bucket(void **state)
{
	struct histogram histogram = { 0 };

	(void)state;
	histogram_add(&histogram, &bounds_e2e, 0.3);
	histogram_add(&histogram, &bounds_e2e, 0.31);
	histogram_add(&histogram, &bounds_e2e, 7680);
	histogram_add(&histogram, &bounds_e2e, 7681);
	histogram_add(&histogram, &bounds_e2e, 0);
	assert_int_equal(histogram.counts[0], 2);
	assert_int_equal(histogram.counts[1], 1);
	assert_int_equal(histogram.counts[bounds_e2e.count - 1], 1);
	assert_int_equal(histogram.counts[bounds_e2e.count], 1);
	assert_true(histogram.sum > 15361.6 && histogram.sum < 15361.62);
}

static void assert_ascending(const struct bounds *bounds, uint32_t count, double last)
{
	assert_int_equal(bounds->count, count);
	assert_true(count <= HISTOGRAM_BOUNDS_MAX);
	for (uint32_t i = 1; i < bounds->count; i++)
		assert_true(bounds->at[i - 1] < bounds->at[i]);
	assert_true(bounds->at[count - 1] == last);
}

static void bounds_ascend_and_fit(void **state)
{
	(void)state;
	assert_ascending(&bounds_ttft, 22, 2560);
	assert_ascending(&bounds_e2e, 21, 7680);
	assert_ascending(&bounds_decision, 11, 0.01);
	assert_ascending(&bounds_ratio, 11, 1);
}

static void every_label_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < TERM_COUNT; i++)
		assert_non_null(termination_names[i]);
	for (int i = 0; i < PIN_CAUSES; i++)
		assert_non_null(pin_cause_names[i]);
	for (int i = 0; i < RELEASE_SOURCES; i++)
		assert_non_null(release_source_names[i]);
	assert_string_equal(termination_names[TERM_LOCAL], "local");
	assert_string_equal(pin_cause_names[PIN_IGNORED], "ignored");
	assert_string_equal(release_source_names[RELEASED_TTL], "ttl");
}

static void a_forgotten_target_counts_from_zero(void **state)
{
	struct counters *counters = counters_new(2);

	(void)state;
	assert_non_null(counters);
	assert_int_equal(counters->targets, 2);
	counters->of[0].moved = 3;
	counters->of[1].moved = 4;
	counters_forget(counters, 1);
	assert_int_equal(counters->of[0].moved, 3);
	assert_int_equal(counters->of[1].moved, 0);
	counters_free(counters);
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(counters_new(2));
	}
	assert_int_equal(failing, 0);
	counters_free(NULL);
}

int main(void)
{
	const struct CMUnitTest counters[] = {
		cmocka_unit_test(a_bound_belongs_to_its_bucket),
		cmocka_unit_test(bounds_ascend_and_fit),
		cmocka_unit_test(every_label_has_a_name),
		cmocka_unit_test(a_forgotten_target_counts_from_zero),
		cmocka_unit_test(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(counters, NULL, NULL);
}
