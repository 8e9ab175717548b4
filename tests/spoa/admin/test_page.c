/* test_page.c - numbers and labels as Prometheus reads them, and no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "spoa/admin/metrics.h"
#include "spoa/admin/page.h"

static const struct metric metric = {
	.name = "m", .type = "gauge", .labels = "one,two", .help = "Help."
};

static void expect(struct page *page, const char *text)
{
	assert_int_equal(page->len, strlen(text));
	assert_memory_equal(page->at, text, page->len);
	page_done(page);
}

static void numbers_read_back_as_they_were(void **state)
{
	static const struct {
		double value;
		const char *text;
	} known[] = { { 0, "0" },
		      { 10, "10" },
		      { 4503599627370496, "4503599627370496" },
		      { 999999999999999, "999999999999999" },
		      { -3, "-3" },
		      { 0.1, "0.1" },
		      { 1.0 / 3, "0.33333333333333331" },
		      { 1e-6, "1e-06" },
		      { (double)INFINITY, "inf" } };

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct page page = { .metric = &metric };
		char text[64];

		(void)snprintf(text, sizeof(text), "inference_spoa_m %s\n", known[i].text);
		page_sample(&page, NULL, known[i].value);
		assert_true(strtod(known[i].text, NULL) == known[i].value);
		expect(&page, text);
	}
}

static void labels_are_quoted_and_may_be_left_away(void **state)
{
	struct page page = { .metric = &metric };

	(void)state;
	page_sample(&page, (const char *[]){ "a\"b\\c\nd\xff", "" }, 1);
	page_sample(&page, (const char *[]){ NULL, "x" }, 1);
	page_sample(&page, (const char *[]){ NULL, NULL }, 1);
	expect(&page, "inference_spoa_m{one=\"a\\\"b\\\\c?d?\",two=\"\"} 1\n"
	              "inference_spoa_m{two=\"x\"} 1\n"
	              "inference_spoa_m 1\n");
}

static void buckets_are_cumulative(void **state)
{
	struct page page = { .metric = &metric };
	static const double at[] = { 0.5, 1 };
	const struct bounds bounds = { at, 2 };
	struct histogram histogram = { 0 };

	(void)state;
	histogram_add(&histogram, &bounds, 0.5);
	histogram_add(&histogram, &bounds, 0.7);
	histogram_add(&histogram, &bounds, 3);
	page_histogram(&page, (const char *[]){ "a", NULL }, &histogram, &bounds);
	expect(&page, "inference_spoa_m_bucket{one=\"a\",le=\"0.5\"} 1\n"
	              "inference_spoa_m_bucket{one=\"a\",le=\"1\"} 2\n"
	              "inference_spoa_m_bucket{one=\"a\",le=\"+Inf\"} 3\n"
	              "inference_spoa_m_sum{one=\"a\"} 4.2\n"
	              "inference_spoa_m_count{one=\"a\"} 3\n");
}

static void a_page_that_failed_gives_nothing(void **state)
{
	struct page page = { 0 };
	size_t len = 7;

	(void)state;
	page_text(&page, "text");
	page.failed = true; /* as after a realloc that gave nothing */
	page_text(&page, "more");
	assert_int_equal(page.len, 4);
	assert_null(page_give(&page, &len));
	assert_int_equal(len, 7);
	assert_null(page.at);
}

int main(void)
{
	const struct CMUnitTest page[] = {
		cmocka_unit_test(numbers_read_back_as_they_were),
		cmocka_unit_test(labels_are_quoted_and_may_be_left_away),
		cmocka_unit_test(buckets_are_cumulative),
		cmocka_unit_test(a_page_that_failed_gives_nothing),
	};

	return cmocka_run_group_tests(page, NULL, NULL);
}
