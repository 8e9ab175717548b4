/* test_small_parts.c - faults as text, quantiles, histograms, and what a client reads of an answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/buckets.h"
#include "tests/sim/bytes.h"
#include "tests/sim/fault.h"
#include "tests/sim/http.h"
#include "tests/sim/quantiles.h"
#include "tests/sim/reply.h"

static struct span text(const char *string)
{
	return (struct span){ string, strlen(string) };
}

static void faults_are_words_or_statuses(void **state)
{
	static const char *const wrong[] = {
		"",     "200",    "600",    "503:",    "503:x",
		"slow", "hang:1", "resets", "slow:-1", "slow:9999999"
	};
	struct fault fault;

	(void)state;
	assert_true(fault_parse(text("503:7"), &fault));
	assert_int_equal(fault.kind, FAULT_STATUS);
	assert_int_equal(fault.status, 503);
	assert_int_equal(fault.retry_after, 7);
	assert_true(fault_parse(text("500"), &fault));
	assert_int_equal(fault.retry_after, -1);
	assert_true(fault_parse(text("slow:250"), &fault));
	assert_int_equal(fault.kind, FAULT_SLOW);
	assert_int_equal(fault.delay_ms, 250);
	assert_true(fault_parse(text("reset-mid"), &fault));
	assert_int_equal(fault.kind, FAULT_RESET_MID);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(fault_parse(text(wrong[i]), &fault));
	assert_int_equal(fault.kind, FAULT_RESET_MID);
}

static void quantiles_are_good_to_one_part_in_64(void **state)
{
	static struct quantiles quantiles;

	(void)state;
	assert_int_equal(quantiles_at(&quantiles, .5), 0);
	for (uint64_t i = 1; i <= 100000; i++)
		quantiles_add(&quantiles, i);
	for (int percent = 1; percent < 100; percent++) {
		double exact = percent * 1000.0;
		double got = (double)quantiles_at(&quantiles, percent / 100.0);

		assert_true(got <= exact && got >= exact * (1 - 1.0 / 64) - 1);
	}
	assert_int_equal(quantiles.max, 100000);
	quantiles_add(&quantiles, UINT64_MAX);
}

static void a_histogram_counts_below_its_bounds(void **state)
{
	struct buckets histogram = { .bounds = buckets_ttft_bounds };
	struct bytes page = { 0 };

	(void)state;
	buckets_add(&histogram, 0.001);
	buckets_add(&histogram, 0.003);
	buckets_add(&histogram, 9999);
	buckets_write(&histogram, "t", "a=\"b\"", &page);
	bytes_add(&page, "", 1);
	assert_non_null(strstr(page.data, "t_bucket{a=\"b\",le=\"0.001\"} 1\n"));
	assert_non_null(strstr(page.data, "t_bucket{a=\"b\",le=\"0.005\"} 2\n"));
	assert_non_null(strstr(page.data, "t_bucket{a=\"b\",le=\"2560\"} 2\n"));
	assert_non_null(strstr(page.data, "t_bucket{a=\"b\",le=\"+Inf\"} 3\n"));
	assert_non_null(strstr(page.data, "t_count{a=\"b\"} 3\n"));
	assert_non_null(strstr(page.data, "t_sum{a=\"b\"} 9999.004000\n"));
	bytes_done(&page);
}

static void text_and_usage_of_an_answer_are_read(void **state)
{
	struct bytes said = { 0 };
	struct reply reply;

	(void)state;
	reply_read(text("{\"choices\":[{\"message\":{\"content\":\"a \\\"b\\\"\"}}],\"usage\":{"
	                "\"prompt_tokens\":9,\"completion_tokens\":2,"
	                "\"prompt_tokens_details\":{\"cached_tokens\":4}}}"),
	           false, &reply, &said);
	assert_true(span_is(bytes_span(&said), "a \\\"b\\\""));
	assert_int_equal(reply.prompt_tokens, 9);
	assert_int_equal(reply.cached_tokens, 4);
	assert_int_equal(reply.output_tokens, 2);
	assert_true(reply.whole);
	bytes_clear(&said);
	reply_read(text("data: {\"delta\":{\"content\":\"a\"}}\n\ndata: "
	                "{\"delta\":{\"content\":\"b\"}}\n\n"),
	           true, &reply, &said);
	assert_true(span_is(bytes_span(&said), "ab"));
	assert_int_equal(reply.cached_tokens, -1);
	assert_false(reply.whole);
	reply_read(text("data: [DONE]\n\n"), true, &reply, &said);
	assert_true(reply.whole);
	bytes_done(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_are_words_or_statuses),
		cmocka_unit_test(quantiles_are_good_to_one_part_in_64),
		cmocka_unit_test(a_histogram_counts_below_its_bounds),
		cmocka_unit_test(text_and_usage_of_an_answer_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
