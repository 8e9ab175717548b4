/* test_policy_diff.c - what a reload says it changes. Proves R013, P121. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/config/policy.h"

static struct policy_file *loaded(const char *text)
{
	struct problems *problems = problems_new();
	struct policy_file *file = policy_parse("p", text, strlen(text), problems);

	assert_non_null(file);
	problems_free(problems);
	return file;
}

static void say(void *context, const struct policy_change *change)
{
	(void)fprintf(context, "%s: %s -> %s%s\n", change->path,
	              change->before ? change->before : "nothing",
	              change->after ? change->after : "nothing",
	              change->restart ? " (restart)" : "");
}

static void assert_diff(const char *before, const char *after, const char *expected)
{
	struct policy_file *old = loaded(before);
	struct policy_file *new = loaded(after);
	char *said = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&said, &size);
	size_t count = policy_diff(old, new, say, out);
	size_t lines = 0;

	(void)fclose(out);
	assert_string_equal(said, expected);
	for (const char *c = said; *c; c++)
		lines += *c == '\n';
	assert_int_equal(count, lines);
	free(said);
	policy_file_free(old);
	policy_file_free(new);
}

static void the_same_says_nothing(void **state)
{
	(void)state;
	assert_diff("{\"defaults\": {\"levels\": \"both\"}, \"// x\": 1}",
	            "{\"// y\": 2, \"defaults\":\n{\"levels\":\"both\"}}", "");
}

static void each_value_is_told_with_what_it_was(void **state)
{
	(void)state;
	assert_diff("{\"instances\": {\"a\": {\"weight\": 1}, \"b\": {\"replicas\": {\"x\": {}}}}}",
	            "{\"instances\": {\"a\": {\"weight\": 2}, \"c\": {\"models\": [\"m\"]}}}",
	            "instances.a.weight: 1 -> 2\n"
	            "instances.c: nothing -> {\"models\":[\"m\"]}\n"
	            "instances.b: {\"replicas\":{\"x\":{}}} -> nothing\n");
}

static void lists_are_compared_by_place(void **state)
{
	(void)state;
	assert_diff("{\"rules\": [{\"model\": \"a\"}, {\"model\": \"b\"}, {\"model\": \"c\"}]}",
	            "{\"rules\": [{\"model\": \"a\"}, {\"model\": \"d\"}]}",
	            "rules[1].model: \"b\" -> \"d\"\n"
	            "rules[2]: {\"model\":\"c\"} -> nothing\n");
	assert_diff("{\"defaults\": {\"strategy\": \"p2c\"}}",
	            "{\"defaults\": {\"strategy\": {\"picker\": \"random\"}}}",
	            "defaults.strategy: \"p2c\" -> {\"picker\":\"random\"}\n");
}

static void what_needs_a_restart_is_marked(void **state)
{
	(void)state;
	assert_diff(
	        "{\"defaults\": {\"ledger-ttl\": \"10m\", \"prefix\": {\"max-records\": 4096}}}",
	        "{\"defaults\": {\"ladder\": \"4x4k\", \"stale-after\": \"2s\","
	        " \"prefix\": {\"max-records\": 8192, \"ttl\": \"1h\"}}}",
	        "defaults.ladder: nothing -> \"4x4k\" (restart)\n"
	        "defaults.stale-after: nothing -> \"2s\"\n"
	        "defaults.prefix.max-records: 4096 -> 8192 (restart)\n"
	        "defaults.prefix.ttl: nothing -> \"1h\"\n"
	        "defaults.ledger-ttl: \"10m\" -> nothing (restart)\n");
	/* A whole object with such an option in it. */
	assert_diff("{}", "{\"defaults\": {\"max-inflight\": 2048}}",
	            "defaults: nothing -> {\"max-inflight\":2048} (restart)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_says_nothing),
		cmocka_unit_test(each_value_is_told_with_what_it_was),
		cmocka_unit_test(lists_are_compared_by_place),
		cmocka_unit_test(what_needs_a_restart_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
