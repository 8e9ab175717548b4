/* test_exposition.c - the Prometheus text format, as engines write it. Proves P057. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "spoa/engines/exposition.h"
#include "tests/spoa/observe/fixture.h"

static struct exposition page_of(const char *text)
{
	return (struct exposition){ .rest = span_of(text) };
}

static void samples_have_names_labels_and_values(void **state)
{
	struct exposition page = page_of("# HELP a Help with { and 1\n"
	                                 "# TYPE a gauge\n"
	                                 "\n"
	                                 "a 1\n"
	                                 "vllm:b{x=\"1\",y=\"two\"} 2.5e3 1700000000000\n"
	                                 "  c_d9 {} -7\t5\r\n"
	                                 "e{}0x10\n"
	                                 "last +Inf");
	static const struct {
		const char *name, *labels;
		double value;
	} known[] = { { "a", "", 1 },
		      { "vllm:b", "x=\"1\",y=\"two\"", 2500 },
		      { "c_d9", "", -7 },
		      { "e", "", 16 },
		      { "last", "", (double)INFINITY } };
	struct exposition_sample sample;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(exposition_next(&page, &sample));
		assert_true(span_is(sample.name, known[i].name));
		assert_true(span_is(sample.labels, known[i].labels));
		assert_true(sample.value == known[i].value);
	}
	assert_false(exposition_next(&page, &sample));
	assert_int_equal(page.broken, 0);
}

static void not_a_number_is_a_value(void **state)
{
	struct exposition page = page_of("a NaN\nb nan\nc -Inf\n");
	struct exposition_sample sample;

	(void)state;
	assert_true(exposition_next(&page, &sample) && isnan(sample.value));
	assert_true(exposition_next(&page, &sample) && isnan(sample.value));
	assert_true(exposition_next(&page, &sample) && isinf(sample.value));
}

static void lines_that_are_no_samples_are_passed_over(void **state)
{
	static const char *const broken[] = {
		"a",
		"a ",
		"a{",
		"a{x=\"1\" 1",
		"a{x=\"} 1",
		"a one",
		"a 1x",
		"{x=\"1\"} 1",
		"9a 1",
		"=1",
		"a{x=\"\\",
		"<html>",
		"a 11111111111111111111111111111111111111111111111111111111111111111111"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		char text[128];
		struct exposition page;
		struct exposition_sample sample;

		(void)snprintf(text, sizeof(text), "%s\ngood 1\n", broken[i]);
		page = page_of(text);
		assert_true(exposition_next(&page, &sample));
		assert_true(span_is(sample.name, "good"));
		assert_int_equal(page.broken, 1);
		assert_false(exposition_next(&page, &sample));
	}
}

static bool only_b(void *data, struct span name)
{
	unsigned *asked = data;

	(*asked)++;
	return span_is(name, "b");
}

static void only_wanted_names_are_read(void **state)
{
	unsigned asked = 0;
	struct exposition page = { .rest = span_of("a garbage\nb 1\nbb 2\nb 3\n"),
		                   .wanted = only_b,
		                   .data = &asked };
	struct exposition_sample sample;

	(void)state;
	assert_true(exposition_next(&page, &sample) && sample.value == 1);
	assert_true(exposition_next(&page, &sample) && sample.value == 3);
	assert_false(exposition_next(&page, &sample));
	assert_int_equal(asked, 4);
	assert_int_equal(page.broken, 0); /* what is not wanted is not judged */
}

static void labels_are_found_by_name(void **state)
{
	static const struct {
		const char *labels, *name, *value; /* NULL: none */
	} known[] = {
		{ "a=\"1\",b=\"2\"", "a", "1" },
		{ "a=\"1\",b=\"2\"", "b", "2" },
		{ "a=\"1\",b=\"2\",", "b", "2" },
		{ "a=\"1\", b = \"2\"", "b", "2" },
		{ "aa=\"1\",a=\"2\"", "a", "2" },
		{ "a=\"x=\\\"b=1\\\"\",b=\"2\"", "b", "2" },
		{ "a=\"}{\",b=\"\"", "b", "" },
		{ "a=\"1\"", "b", NULL },
		{ "", "a", NULL },
		{ "a", "a", NULL },
		{ "a=", "a", NULL },
		{ "a=1", "a", NULL },
		{ "a=\"1", "a", NULL },
		{ "a=\"1\\\"", "a", NULL },
		{ "=\"1\",a=\"1\"", "a", NULL },
		{ ",,a=\"1\"", "a", "1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct span value = { NULL, 0 };
		bool found = exposition_label(span_of(known[i].labels), known[i].name, &value);

		assert_int_equal(found, known[i].value != NULL);
		if (found)
			assert_true(span_is(value, known[i].value));
	}
}

static void a_brace_inside_quotes_ends_nothing(void **state)
{
	struct exposition page = page_of("a{x=\"}\",y=\"\\\"}\"} 4\n");
	struct exposition_sample sample;
	struct span value;

	(void)state;
	assert_true(exposition_next(&page, &sample));
	assert_true(sample.value == 4);
	assert_true(exposition_label(sample.labels, "x", &value));
	assert_true(span_is(value, "}"));
}

int main(void)
{
	const struct CMUnitTest exposition[] = {
		cmocka_unit_test(samples_have_names_labels_and_values),
		cmocka_unit_test(not_a_number_is_a_value),
		cmocka_unit_test(lines_that_are_no_samples_are_passed_over),
		cmocka_unit_test(only_wanted_names_are_read),
		cmocka_unit_test(labels_are_found_by_name),
		cmocka_unit_test(a_brace_inside_quotes_ends_nothing),
	};

	return cmocka_run_group_tests(exposition, NULL, NULL);
}
