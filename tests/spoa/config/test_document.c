/* test_document.c - where each key and value of a JSON text is. Proves P112, P122. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/config/document.h"

static struct document *parsed(const char *text, struct problems **ret_problems)
{
	*ret_problems = problems_new();
	assert_non_null(*ret_problems);
	return document_parse("p.json", text, strlen(text), *ret_problems);
}

static const struct node *at(const struct node *node, const char *name)
{
	node = node_named(node, name);
	assert_non_null(node);
	return node;
}

static void assert_place(const struct node *node, uint32_t line, uint32_t column)
{
	assert_int_equal(node->line, line);
	assert_int_equal(node->column, column);
}

/* That the only problem is this one; the document, if any, is freed. */
static void assert_problem(const char *text, uint32_t line, uint32_t column, const char *said)
{
	struct problems *problems;
	struct document *document = parsed(text, &problems);
	const struct problem *problem = problems_at(problems, 0);

	assert_non_null(problem);
	assert_string_equal(problem->text, said);
	assert_int_equal(problem->place.line, line);
	assert_int_equal(problem->place.column, column);
	assert_null(problems_at(problems, 1));
	document_free(document);
	problems_free(problems);
}

static void every_value_knows_its_line_and_column(void **state)
{
	struct problems *problems;
	struct document *document = parsed("{\n"
	                                   "  \"a\": {\"b\": [1, \"x,]}\",\n"
	                                   "\ttrue, {\"c\": null}]},\n"
	                                   "  \"\\u0061b\\\"\": -1.5e3}\n",
	                                   &problems);
	const struct node *root;
	const struct node *list;

	(void)state;
	assert_non_null(document);
	root = document_root(document);
	assert_place(root, 1, 1);
	assert_place(at(root, "a"), 2, 8);
	assert_int_equal(at(root, "a")->key_column, 3);
	list = at(at(root, "a"), "b");
	assert_place(list, 2, 14);
	assert_int_equal(node_count(list), 4);
	assert_place(list->child, 2, 15);
	assert_place(list->child->next, 2, 18);
	assert_place(list->child->next->next, 3, 2);
	assert_place(at(list->last, "c"), 3, 14);
	assert_true(json_is_null(at(list->last, "c")->value));
	assert_place(at(root, "ab\""), 4, 16);
	assert_true(json_number_value(at(root, "ab\"")->value) == -1500);
	document_free(document);
	problems_free(problems);
}

static void a_path_names_keys_and_places(void **state)
{
	struct problems *problems;
	struct document *document = parsed("{\"rules\": [{}, {\"chain\": [[0], 1]}]}", &problems);
	const struct node *chain = at(at(document_root(document), "rules")->last, "chain");
	char path[NODE_PATH_MAX];

	(void)state;
	node_path(chain->child->child, path);
	assert_string_equal(path, "rules[1].chain[0][0]");
	node_path(document_root(document), path);
	assert_string_equal(path, "");
	document_free(document);
	problems_free(problems);
}

static void a_long_path_keeps_its_end(void **state)
{
	char text[700] = "{\"";
	struct problems *problems;
	struct document *document;
	char path[NODE_PATH_MAX];

	(void)state;
	memset(text + 2, 'n', 500);
	strncat(text, "\": {\"end\": 1}}", 100);
	document = parsed(text, &problems);
	node_path(document_root(document)->child->child, path);
	assert_int_equal(strlen(path), NODE_PATH_MAX - 1);
	assert_string_equal(path + NODE_PATH_MAX - 1 - 6, "nn.end");
	document_free(document);
	problems_free(problems);
}

static void comments_are_left_out(void **state)
{
	struct problems *problems;
	struct document *document =
	        parsed("{\"// x\": {\"a\": [1]}, \"b\": [1, 2], \"//\": 1, \"c\": 2, \"//\": 3}",
	               &problems);

	(void)state;
	assert_non_null(document);
	assert_int_equal(node_count(document_root(document)), 2);
	assert_int_equal(json_integer_value(at(document_root(document), "c")->value), 2);
	assert_null(problems_at(problems, 0));
	document_free(document);
	problems_free(problems);
}

static void a_key_that_comes_twice_is_told_with_both_places(void **state)
{
	struct problems *problems;
	struct document *document = parsed("{\"k\": {\"x\": {}, \"x\": []},\n \"l\": 1,\n"
	                                   " \"k\": 2, \"l\": 3, \"k\": 4}",
	                                   &problems);

	(void)state;
	assert_non_null(document);
	assert_int_equal(problems_count(problems, SEVERITY_ERROR), 4);
	assert_string_equal(problems_at(problems, 0)->path, "k.x");
	assert_string_equal(problems_at(problems, 0)->text,
	                    "is here again, first at line 1, column 8");
	assert_string_equal(problems_at(problems, 1)->text,
	                    "is here again, first at line 1, column 2");
	assert_int_equal(problems_at(problems, 1)->place.line, 3);
	assert_string_equal(problems_at(problems, 2)->path, "l");
	assert_string_equal(problems_at(problems, 3)->text,
	                    "is here again, first at line 3, column 2");
	assert_int_equal(node_count(document_root(document)), 2);
	assert_int_equal(json_integer_value(at(document_root(document), "k")->value), 4);
	document_free(document);
	problems_free(problems);
}

static void what_is_no_json_points_at_the_first_wrong_token(void **state)
{
	(void)state;
	assert_problem("{\"a\": 1\n \"b\": 2}", 2, 2, "'}' expected near '\"b\"'");
	assert_problem("{\"\xc3\xa9\": 1, nul}", 1, 11, "string or '}' expected near 'nul'");
	assert_problem("{} x", 1, 4, "end of file expected near 'x'");
	assert_problem("\xef\xbb\xbf{}", 1, 1, "'[' or '{' expected near '\xef\xbb\xbf'");
	assert_problem("[1e999]", 1, 2, "real number overflow near '1e999'");
	assert_problem("", 1, 1, "'[' or '{' expected near end of file");
	assert_problem("{\"k\": 1, \"k\": }", 1, 15, "unexpected token near '}'");
}

static void a_nul_is_no_json(void **state)
{
	static const char text[] = "{\"a\":\n [1\0, 2]}";
	struct problems *problems = problems_new();

	(void)state;
	assert_null(document_parse("p.json", text, sizeof(text) - 1, problems));
	assert_string_equal(problems_at(problems, 0)->text, "a NUL byte in the text");
	assert_int_equal(problems_at(problems, 0)->place.line, 2);
	assert_int_equal(problems_at(problems, 0)->place.column, 4);
	problems_free(problems);
}

static void depth_and_size_have_an_end(void **state)
{
	char *text = calloc(3, DOCUMENT_NODES_MAX + 4);

	(void)state;
	assert_non_null(text);
	memset(text, '[', DOCUMENT_DEPTH_MAX + 1);
	memset(text + DOCUMENT_DEPTH_MAX + 1, ']', DOCUMENT_DEPTH_MAX + 1);
	assert_problem(text, 1, DOCUMENT_DEPTH_MAX + 1, "nested too deep");
	memset(text, '[', DOCUMENT_NODES_MAX);
	assert_problem(text, 1, 2049, "maximum parsing depth reached near '['");
	for (size_t i = 0; i < DOCUMENT_NODES_MAX; i++)
		memcpy(text + 2 * i, ",1", 2);
	text[0] = '[';
	text[2 * DOCUMENT_NODES_MAX] = ']';
	assert_problem(text, 1, 2 * DOCUMENT_NODES_MAX, "too many values");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_knows_its_line_and_column),
		cmocka_unit_test(a_path_names_keys_and_places),
		cmocka_unit_test(a_long_path_keeps_its_end),
		cmocka_unit_test(comments_are_left_out),
		cmocka_unit_test(a_key_that_comes_twice_is_told_with_both_places),
		cmocka_unit_test(what_is_no_json_points_at_the_first_wrong_token),
		cmocka_unit_test(a_nul_is_no_json),
		cmocka_unit_test(depth_and_size_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
