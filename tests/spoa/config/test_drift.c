/* test_drift.c - what is generated and checked in is what the tables say now, and
 * the shipped profiles load. Proves R013, P122.
 *
 * After a change of an option table:
 *     inference-spoa schema > policies/policy.schema.json
 *     inference-spoa options --markdown > docs/options.md */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/classes.h"
#include "policies/defaults.h"
#include "policies/lora.h"
#include "policies/queue.h"
#include "spoa/config/options_doc.h"
#include "spoa/config/policy.h"
#include "spoa/config/schema.h"
#include "spoa/config/strategies_doc.h"
#include "spoa/config/text.h"

enum { PATH_BYTES = 4096, FILE_BYTES = 1 << 20 };

/* A file of the tree this test was built from. */
static void tree_path(const char *name, char ret_path[PATH_BYTES])
{
	const char *here = __FILE__;
	const char *end = strstr(here, "tests/spoa/config/");

	assert_non_null(end);
	(void)snprintf(ret_path, PATH_BYTES, "%.*s%s", (int)(end - here), here, name);
}

static void assert_checked_in(const char *name, const char *printed)
{
	char path[PATH_BYTES];
	struct error error = { .text = "" };
	size_t len;
	char *text;

	tree_path(name, path);
	text = text_read(path, FILE_BYTES, &len, &error);
	assert_non_null(text);
	if (strcmp(text, printed) != 0)
		print_error("%s is not what the tables say; generate it anew\n", name);
	assert_true(strcmp(text, printed) == 0);
	free(text);
}

static void the_schema_is_what_the_tables_say(void **state)
{
	char *printed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);

	(void)state;
	assert_non_null(out);
	assert_true(schema_print(out));
	(void)fclose(out);
	assert_checked_in("policies/policy.schema.json", printed);
	free(printed);
}

static void the_reference_page_is_what_the_tables_say(void **state)
{
	char *printed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);

	(void)state;
	assert_non_null(out);
	options_doc_print(out, true);
	(void)fclose(out);
	assert_checked_in("docs/options.md", printed);
	free(printed);
}

static struct policy_file *profile(const char *path)
{
	struct problems *problems = problems_new();
	struct policy_file *file = policy_load(path, problems);

	if (problems_at(problems, 0))
		problems_print(problems, stderr);
	assert_null(problems_at(problems, 0));
	assert_non_null(file);
	problems_free(problems);
	return file;
}

static void every_shipped_profile_loads_without_a_word(void **state)
{
	char pattern[PATH_BYTES];
	glob_t found;

	(void)state;
	tree_path("policies/profiles/*.json", pattern);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 3);
	for (size_t i = 0; i < found.gl_pathc; i++)
		policy_file_free(profile(found.gl_pathv[i]));
	globfree(&found);
}

static bool same_field(const struct option *row, const void *a, const void *b)
{
	const char *x = (const char *)a + row->offset;
	const char *y = (const char *)b + row->offset;

	switch (row->type) {
	case OPTION_BOOL:
		return *x == *y;
	case OPTION_COUNT:
	case OPTION_CHOICE:
		return memcmp(x, y, sizeof(uint32_t)) == 0;
	case OPTION_NUMBER:
	case OPTION_SIZE:
	case OPTION_DURATION:
	case OPTION_MSEC:
		return memcmp(x, y, sizeof(double)) == 0;
	case OPTION_RATE:
		return memcmp(x, y, sizeof(struct rate)) == 0;
	case OPTION_TEXT:
		return strcmp(x, y) == 0;
	}
	return false;
}

static void assert_same(const struct option *options, const void *a, const void *b)
{
	for (; options->name; options++) {
		if (!same_field(options, a, b))
			print_error("%s differs\n", options->name);
		assert_true(same_field(options, a, b));
	}
}

static void assert_same_entry(const struct entry_policy *a, const struct entry_policy *b)
{
	assert_same(entry_options, a, b);
	assert_same(limits_options, &a->admit, &b->admit);
	assert_same(limits_options, &a->hard, &b->hard);
	assert_ptr_equal(a->strategy->picker, b->strategy->picker);
	assert_ptr_equal(a->strategy->weighings[0].signal, b->strategy->weighings[0].signal);
}

static void the_default_spelled_out_changes_nothing(void **state)
{
	char path[PATH_BYTES];
	struct policy_file *spelled;
	const struct policy *policy;
	struct policy standard;

	(void)state;
	tree_path("policies/profiles/default.json", path);
	spelled = profile(path);
	policy = policy_file_policy(spelled);
	policy_default(&standard);
	assert_same(policy_options, policy, &standard);
	assert_same(prefix_options, &policy->prefix, &standard.prefix);
	assert_same(health_options, &policy->health, &standard.health);
	assert_same(queue_options, &policy->queue, &standard.queue);
	assert_same(objective_options, &policy->queue.objectives, &standard.queue.objectives);
	assert_same(lora_options, &policy->lora, &standard.lora);
	assert_same(blend_options, &policy->blend, &standard.blend);
	assert_same(instance_options, &policy->default_instance, &standard.default_instance);
	assert_same_entry(&policy->default_rule.chain[0], &standard.default_rule.chain[0]);
	assert_same_entry(&policy->default_instance.chain[0], &standard.default_instance.chain[0]);
	assert_string_equal(policy->ladder.id, standard.ladder.id);
	policy_file_free(spelled);
}

/* Every row of a table is in the text of the file that spells out the default. */
static void the_default_is_spelled_out_completely(void **state)
{
	const struct option *tables[] = { policy_options, prefix_options,    health_options,
		                          entry_options,  limits_options,    instance_options,
		                          queue_options,  objective_options, lora_options };
	struct error error = { .text = "" };
	char path[PATH_BYTES];
	char key[128];
	size_t len;
	char *text;

	(void)state;
	tree_path("policies/profiles/default.json", path);
	text = text_read(path, FILE_BYTES, &len, &error);
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct option *row = tables[i]; row->name; row++) {
			(void)snprintf(key, sizeof(key), "\"%s\":", row->name);
			if (!strstr(text, key))
				print_error("%s is missing in %s\n", key, path);
			assert_non_null(strstr(text, key));
		}
	}
	free(text);
}

/* A second opinion, where python3 and its jsonschema are there. */
static void a_foreign_validator_accepts_the_profiles(void **state)
{
	static const char script[] =
	        "python3 -c \"import glob, json, sys, jsonschema\n"
	        "root = sys.argv[1]\n"
	        "schema = json.load(open(root + 'policies/policy.schema.json'))\n"
	        "jsonschema.Draft7Validator.check_schema(schema)\n"
	        "validator = jsonschema.Draft7Validator(schema)\n"
	        "for name in glob.glob(root + 'policies/profiles/*.json'):\n"
	        "    validator.validate(json.load(open(name)))\n"
	        "assert not validator.is_valid({'defaults': {'stale-after': 3}})\n"
	        "assert not validator.is_valid({'defaults': {'prefx': {}}})\n"
	        "assert not validator.is_valid({'rules': [{'chain': []}]})\n"
	        "assert validator.is_valid({'// x': 1, 'rules': [{'strategy': 'p2c'}]})\n"
	        "\" '%s'";
	char root[PATH_BYTES];
	char command[2 * PATH_BYTES];

	(void)state;
	if (system("python3 -c 'import jsonschema' 2>/dev/null") != 0) {
		print_message("python3-jsonschema is not installed: not compared\n");
		skip();
	}
	tree_path("", root);
	(void)snprintf(command, sizeof(command), script, root);
	assert_int_equal(system(command), 0);
}

/* The page is written by hand, but for its tables. */
static void the_page_of_strategies_has_the_tables_as_they_are(void **state)
{
	struct error error = { .text = "" };
	char path[PATH_BYTES];
	char *tables = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&tables, &len);
	char *page;

	(void)state;
	assert_non_null(out);
	strategies_doc_print(out, true);
	assert_int_equal(fclose(out), 0);
	tree_path("docs/strategies.md", path);
	page = text_read(path, FILE_BYTES, &len, &error);
	assert_non_null(page);
	if (!strstr(page, tables))
		print_error("the tables of docs/strategies.md are old; generate them anew\n");
	assert_non_null(strstr(page, tables));
	free(page);
	free(tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_of_strategies_has_the_tables_as_they_are),
		cmocka_unit_test(the_schema_is_what_the_tables_say),
		cmocka_unit_test(the_reference_page_is_what_the_tables_say),
		cmocka_unit_test(every_shipped_profile_loads_without_a_word),
		cmocka_unit_test(the_default_spelled_out_changes_nothing),
		cmocka_unit_test(the_default_is_spelled_out_completely),
		cmocka_unit_test(a_foreign_validator_accepts_the_profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
