/* test_sharing.c - what a policy says of the store: no password in it, and what needs a restart.
 * Proves R050, P051. */
#include "spoa/config/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/config/policy_file.h"

static struct policy_file *parse(const char *text, char *ret_problem, size_t room)
{
	struct problems *problems = problems_new();
	struct policy_file *file = policy_parse("policy.json", text, strlen(text), problems);
	const struct problem *problem = problems_at(problems, 0);

	(void)snprintf(ret_problem, room, "%s", problem ? problem->text : "");
	problems_free(problems);
	return file;
}

static void a_store_is_read_with_its_settings(void **state)
{
	char problem[256];
	struct policy_file *file =
	        parse("{\"redis\": {\"url\": \"redis+sentinel://a:1,b:2/main/3\", \"space\": \"x\","
	              "\"memory\": \"2m\", \"loads\": false, \"sentinel-password-file\": \"s\"}}",
	              problem, sizeof(problem));
	const struct sharing_policy *sharing;

	(void)state;
	assert_string_equal(problem, "");
	assert_non_null(file);
	sharing = &policy_file_policy(file)->sharing;
	assert_string_equal(sharing->url, "redis+sentinel://a:1,b:2/main/3");
	assert_string_equal(sharing->space, "x");
	assert_int_equal((int)sharing->memory, 2 << 20);
	assert_false(sharing->loads);
	assert_string_equal(sharing->sentinel_password_file, "s");
	policy_file_free(file);
	file = parse("{\"redis\": {\"url\": \"redis://u@a\", \"password-file\": \"p\"}}", problem,
	             sizeof(problem));
	assert_non_null(file);
	policy_file_free(file);
	file = parse("{}", problem, sizeof(problem));
	sharing = &policy_file_policy(file)->sharing;
	assert_string_equal(sharing->url, "");
	assert_int_equal((int)sharing->memory, 64 << 20);
	assert_true(sharing->loads);
	policy_file_free(file);
}

static void what_cannot_be_is_refused(void **state)
{
	char problem[256];

	(void)state;
	assert_null(
	        parse("{\"redis\": {\"url\": \"redis://u:pw@a/0\"}}", problem, sizeof(problem)));
	assert_string_equal(problem, "a password belongs into a password-file");
	assert_null(parse("{\"redis\": {\"url\": \"redis://u@a/0\"}}", problem, sizeof(problem)));
	assert_string_equal(problem, "a user needs a password-file");
	assert_null(parse("{\"redis\": {\"url\": \"http://a\"}}", problem, sizeof(problem)));
	assert_non_null(strstr(problem, "expected redis://"));
	assert_null(parse("{\"redis\": {\"space\": \"a{b\"}}", problem, sizeof(problem)));
	assert_non_null(strstr(problem, "expected a name of 1 to 63"));
}

struct seen {
	int restarts, others;
};

static void see(void *data, const struct policy_change *change)
{
	struct seen *seen = data;

	*(change->restart ? &seen->restarts : &seen->others) += 1;
}

static void a_change_says_whether_it_needs_a_restart(void **state)
{
	char problem[256];
	struct policy_file *before = parse("{\"redis\": {\"url\": \"redis://a\", \"space\": \"x\","
	                                   "\"memory\": \"2m\", \"loads\": true}}",
	                                   problem, sizeof(problem));
	struct policy_file *after = parse("{\"redis\": {\"url\": \"redis://b\", \"space\": \"y\","
	                                  "\"memory\": \"3m\", \"loads\": false}}",
	                                  problem, sizeof(problem));
	struct seen seen = { 0, 0 };

	(void)state;
	assert_int_equal(policy_diff(before, after, see, &seen), 4);
	assert_int_equal(seen.restarts, 2);
	assert_int_equal(seen.others, 2);
	policy_file_free(before);
	policy_file_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_is_read_with_its_settings),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(a_change_says_whether_it_needs_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
