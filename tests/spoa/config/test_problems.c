/* test_problems.c - all mistakes, in the order of the files. Proves R133. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "spoa/config/problems.h"

static int setup(void **state)
{
	*state = problems_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	problems_free(*state);
	return 0;
}

static struct place place(const char *file, uint32_t line, uint32_t column)
{
	return (struct place){ .file = file, .line = line, .column = column };
}

static char *printed(struct problems *problems, void (*print)(struct problems *, FILE *))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print(problems, out);
	(void)fclose(out);
	return text;
}

static void assert_printed(struct problems *problems, const char *expected)
{
	char *text = printed(problems, problems_print);

	assert_string_equal(text, expected);
	free(text);
}

static void nothing_wrong_prints_nothing(void **state)
{
	assert_printed(*state, "");
}

static void lines_of_a_file_ascend_and_files_keep_their_order(void **state)
{
	problems_add(*state, place("policy.json", 41, 17), SEVERITY_ERROR, "instances.a.strategy",
	             "unknown-strategy", "unknown name \"%s\"", "prefix-cach");
	problems_add(*state, place("haproxy.cfg", 31, 0), SEVERITY_WARNING, NULL, "bufsize",
	             "tune.bufsize %d", 16384);
	problems_add(*state, place("policy.json", 5, 9), SEVERITY_ERROR, "defaults", "type", "x");
	problems_add(*state, place("policy.json", 5, 3), SEVERITY_NOTE, "", "level", "y");
	assert_printed(*state, "policy.json:5:3: note: y [level]\n"
	                       "policy.json:5:9: error: defaults: x [type]\n"
	                       "policy.json:41:17: error: instances.a.strategy: unknown name "
	                       "\"prefix-cach\" [unknown-strategy]\n"
	                       "haproxy.cfg:31: warning: tune.bufsize 16384 [bufsize]\n"
	                       "2 errors, 1 warning, 1 note\n");
}

static void what_is_at_one_place_keeps_its_order(void **state)
{
	static const char *const texts[] = { "c", "a", "b", "e", "d" };
	char expected[256] = "";

	for (size_t i = 0; i < 5; i++) {
		problems_add(*state, place("f", 1, 1), SEVERITY_NOTE, "", "r", "%s", texts[i]);
		(void)snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
		               "f:1:1: note: %s [r]\n", texts[i]);
	}
	(void)snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
	               "5 notes\n");
	assert_printed(*state, expected);
}

static void an_ignored_rule_does_not_count(void **state)
{
	problems_add(*state, place("f", 1, 0), SEVERITY_WARNING, "", "bufsize", "x");
	problems_add(*state, place("f", 2, 0), SEVERITY_WARNING, "", "keep-alive", "y");
	problems_ignore(*state, "bufsize");
	assert_int_equal(problems_count(*state, SEVERITY_WARNING), 1);
	assert_printed(*state, "f:2: warning: y [keep-alive]\n1 warning\n");
}

static void more_than_a_thousand_are_counted_not_kept(void **state)
{
	for (uint32_t i = 0; i < PROBLEMS_MAX + 5; i++)
		problems_add(*state, place(NULL, 0, 0), SEVERITY_ERROR, "", "r", "t");
	assert_int_equal(problems_count(*state, SEVERITY_ERROR), PROBLEMS_MAX + 5);
	assert_non_null(problems_at(*state, PROBLEMS_MAX - 1));
	assert_null(problems_at(*state, PROBLEMS_MAX));
	assert_string_equal(problems_at(*state, 0)->text, "t");
}

static void json_has_stable_names(void **state)
{
	char *text;
	json_t *root;
	const char *severity;
	const char *said;
	int line;
	int errors;

	problems_add(*state, place("p.json", 3, 4), SEVERITY_ERROR, "a.b", "type", "an \"x\"");
	text = printed(*state, problems_print_json);
	root = json_loads(text, 0, NULL);
	assert_int_equal(json_unpack(root, "{s[{ss ss si}] si}", "problems", "severity", &severity,
	                             "text", &said, "line", &line, "errors", &errors),
	                 0);
	assert_string_equal(severity, "error");
	assert_string_equal(said, "an \"x\"");
	assert_int_equal(line, 3);
	assert_int_equal(errors, 1);
	json_decref(root);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_wrong_prints_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_of_a_file_ascend_and_files_keep_their_order,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_at_one_place_keeps_its_order, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(an_ignored_rule_does_not_count, setup, teardown),
		cmocka_unit_test_setup_teardown(more_than_a_thousand_are_counted_not_kept, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(json_has_stable_names, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
