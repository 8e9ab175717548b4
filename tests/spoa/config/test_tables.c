/* test_tables.c - every documented key loads, with every value at the ends of its
 * range and none beyond. Proves P122, R175. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/defaults.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "policies/strategies.h"
#include "spoa/config/instances.h"
#include "spoa/config/measure.h"
#include "spoa/config/policy.h"
#include "spoa/config/recipe.h"

enum { JSON_BYTES = 1024 };

/* How many errors a text has; the first is printed if there should be none. */
static size_t errors_of(const char *text, bool expected)
{
	struct problems *problems = problems_new();
	struct policy_file *file = policy_parse("p", text, strlen(text), problems);
	size_t count = problems_count(problems, SEVERITY_ERROR);

	if (count > 0 && !expected)
		print_error("%s\n  %s: %s\n", text, problems_at(problems, 0)->path,
		            problems_at(problems, 0)->text);
	policy_file_free(file);
	problems_free(problems);
	return count;
}

/* As JSON: bare, or in quotes where a text belongs. */
static void json_value(const struct option *row, double value, char ret_json[JSON_BYTES])
{
	char text[MEASURE_MAX];
	bool quoted =
	        row->type != OPTION_BOOL && row->type != OPTION_COUNT && row->type != OPTION_NUMBER;

	measure_show(row, value, text);
	(void)snprintf(ret_json, JSON_BYTES, quoted ? "\"%s\"" : "%s", text);
}

/* before "NAME": VALUE after */
static size_t errors_with(const char *before, const struct option *row, double value,
                          const char *after, bool expected)
{
	char json[JSON_BYTES];
	char text[2 * JSON_BYTES];

	json_value(row, value, json);
	(void)snprintf(text, sizeof(text), "%s\"%s\": %s%s", before, row->name, json, after);
	return errors_of(text, expected);
}

static void assert_rows_load(const char *before, const struct option *options, const char *after)
{
	for (const struct option *row = options; row && row->name; row++) {
		double beyond = row->max < 1e3 ? 1 : row->max;

		if (row->type == OPTION_TEXT)
			continue;
		assert_int_equal(errors_with(before, row, row->otherwise, after, false), 0);
		assert_int_equal(errors_with(before, row, row->min, after, false), 0);
		assert_int_equal(errors_with(before, row, row->max, after, false), 0);
		if (row->type == OPTION_BOOL || row->type == OPTION_CHOICE)
			continue;
		assert_int_equal(errors_with(before, row, row->max + beyond, after, true), 1);
		if (row->min > 0)
			assert_int_equal(errors_with(before, row, row->min / 2, after, true), 1);
	}
}

/* A burst belongs to a rate, so it stands beside one. */
static void assert_quotas_load(void)
{
	struct option rates[8] = { { 0 } }, bursts[8] = { { 0 } };
	size_t rate_count = 0, burst_count = 0;

	for (const struct option *row = quota_options; row->name; row++) {
		if (strstr(row->name, "-burst"))
			bursts[burst_count++] = *row;
		else
			rates[rate_count++] = *row;
	}
	assert_rows_load("{\"models\": {\"m\": {\"limits\": {", rates, "}}}}");
	assert_rows_load("{\"tenants\": {\"t\": {\"limits\": {", rates, "}}}}");
	assert_rows_load("{\"tenants\": {\"t\": {\"models\": {\"m\": {\"requests\": \"1/s\", "
	                 "\"tokens\": \"1/s\", ",
	                 bursts, "}}}}}");
}

static void every_row_takes_its_whole_range_and_no_more(void **state)
{
	const struct option *status =
	        option_named(policy_options, (struct span){ "overload-status", 15 });
	struct option process[64];
	size_t count = 0;

	(void)state;
	/* Two that are bound to others by rules of their own. */
	for (const struct option *row = policy_options; row->name; row++) {
		if (row != status && strcmp(row->name, "ledger-ttl") != 0 &&
		    strcmp(row->name, "ledger-width") != 0)
			process[count++] = *row;
	}
	process[count] = (struct option){ .name = NULL };
	assert_rows_load("{\"defaults\": {", process, "}}");
	assert_rows_load("{\"defaults\": {\"prefix\": {", prefix_options, "}}}");
	assert_rows_load("{\"defaults\": {\"health\": {", health_options, "}}}");
	assert_rows_load("{\"defaults\": {", entry_options, "}}");
	assert_rows_load("{\"models\": {\"m\": {", entry_options, "}}}");
	assert_rows_load("{\"rules\": [{\"chain\": [{", entry_options, "}]}]}");
	assert_rows_load("{\"defaults\": {\"level1\": {\"admit\": {", limits_options, "}}}}");
	assert_rows_load("{\"instances\": {\"i\": {\"hard-limits\": {", limits_options, "}}}}");
	assert_rows_load("{\"defaults\": {\"level2\": {", instance_options, "}}}");
	assert_rows_load("{\"instances\": {\"i\": {", instance_options, "}}}");
	assert_rows_load("{\"instances\": {\"i\": {\"replicas\": {\"r\": {", replica_options,
	                 "}}}}}");
	assert_rows_load("{\"tenants\": {\"t\": {", tenant_options, "}}}");
	assert_quotas_load();
	assert_rows_load("{\"strategies\": {\"s\": {\"picker\": \"random\", ", recipe_options,
	                 "}}}");
	assert_rows_load(
	        "{\"strategies\": {\"s\": {\"picker\": \"random\", \"signals\": {\"running\": {",
	        weighing_options, "}}}}}");
}

static void every_option_of_every_picker_loads_beside_it(void **state)
{
	char before[JSON_BYTES];

	(void)state;
	for (size_t i = 0; recipe_picker_at(i); i++) {
		(void)snprintf(before, sizeof(before),
		               "{\"strategies\": {\"s\": {\"signals\": {\"work\": 1}, \"picker\": "
		               "\"%s\", ",
		               recipe_picker_at(i)->name);
		assert_rows_load(before, recipe_picker_at(i)->options, "}}}");
		(void)snprintf(
		        before, sizeof(before),
		        "{\"rules\": [{\"strategy\": {\"signals\": {\"work\": 1}, \"picker\": "
		        "\"%s\"}, ",
		        recipe_picker_at(i)->name);
		assert_rows_load(before, recipe_picker_at(i)->options, "}]}");
	}
}

static void every_strategy_and_every_signal_has_a_name_that_loads(void **state)
{
	char text[JSON_BYTES];

	(void)state;
	for (size_t i = 0; strategy_at(i); i++) {
		(void)snprintf(text, sizeof(text), "{\"defaults\": {\"strategy\": \"%s\"}}",
		               strategy_at(i)->name);
		assert_int_equal(errors_of(text, false), 0);
	}
	for (size_t i = 0; recipe_signal_at(i); i++) {
		(void)snprintf(text, sizeof(text),
		               "{\"rules\": [{\"strategy\": {\"signals\": {\"%s\": 1}}}]}",
		               recipe_signal_at(i)->name);
		assert_int_equal(errors_of(text, false), 0);
	}
}

static void assert_shown(enum option_type type, double value, const char *expected)
{
	struct option row = { .name = "x", .type = type, .choices = "a|bc|d", .unit = "" };
	char text[MEASURE_MAX];

	measure_show(&row, value, text);
	assert_string_equal(text, expected);
}

static void values_are_shown_as_an_operator_writes_them(void **state)
{
	(void)state;
	assert_shown(OPTION_DURATION, 0, "0");
	assert_shown(OPTION_DURATION, 1800e6, "30m");
	assert_shown(OPTION_DURATION, 90e6, "90s");
	assert_shown(OPTION_DURATION, 250e3, "250ms");
	assert_shown(OPTION_DURATION, 1, "1us");
	assert_shown(OPTION_DURATION, 2 * 86400e6, "2d");
	assert_shown(OPTION_MSEC, 1500, "1500ms");
	assert_shown(OPTION_MSEC, 2000, "2s");
	assert_shown(OPTION_SIZE, 4096, "4k");
	assert_shown(OPTION_SIZE, 1048576, "1m");
	assert_shown(OPTION_SIZE, 1000, "1000b");
	assert_shown(OPTION_BOOL, 1, "true");
	assert_shown(OPTION_BOOL, 0, "false");
	assert_shown(OPTION_CHOICE, 0, "a");
	assert_shown(OPTION_CHOICE, 1, "bc");
	assert_shown(OPTION_CHOICE, 2, "d");
	assert_shown(OPTION_NUMBER, 0.5, "0.5");
	assert_shown(OPTION_COUNT, 1048576, "1048576");
	assert_shown(OPTION_RATE, 2.5, "2.5/s");
	assert_shown(OPTION_RATE, 0, "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_takes_its_whole_range_and_no_more),
		cmocka_unit_test(every_option_of_every_picker_loads_beside_it),
		cmocka_unit_test(every_strategy_and_every_signal_has_a_name_that_loads),
		cmocka_unit_test(values_are_shown_as_an_operator_writes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
