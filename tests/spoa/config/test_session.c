/* test_session.c - which headers carry a session, and what ids are made of.
 * Proves R160, B019, B053. */
#include <unistd.h>

#include "policies/defaults.h"
#include "spoa/messages/messages.h"
#include "tests/spoa/config/parsed.h"

static const struct session_policy *session_of(const struct policy_file *file)
{
	return &policy_file_policy(file)->session;
}

static void expect_headers(const char *list, const char *expected)
{
	char text[2048], found[512] = "";
	struct policy_file *file;

	snprintf(text, sizeof(text), "{\"defaults\": {\"session\": {\"headers\": %s}}}", list);
	file = good(text);
	for (uint32_t i = 0; i < session_of(file)->header_count; i++) {
		const struct session_header *header = &session_of(file)->headers[i];
		size_t len = strlen(found);

		snprintf(found + len, sizeof(found) - len, "%s %d;", header->name,
		         header->argument == SESSION_HEADER_OTHER ? -1 : (int)header->argument);
	}
	assert_string_equal(found, expected);
	policy_file_free(file);
}

/* The list of policies/defaults.c is that of the contract, argument by argument. */
static void the_headers_are_those_of_the_contract(void **state)
{
#define AS_EXPRESSION(id, name, expression, help) { #id, name, expression, help },
	static const char *const arguments[][4] = { ROUTE_ARGUMENTS(AS_EXPRESSION) };
#undef AS_EXPRESSION
	const char *name;
	uint32_t i;

	(void)state;
	for (i = 0; (name = session_header_at(i)); i++) {
		const char *const *argument = arguments[ROUTE_SESSION0 + i];

		assert_non_null(strstr(i == 0 ? argument[3] : argument[2], name));
	}
	assert_int_equal(i, ROUTE_SESSION9 - ROUTE_SESSION0 + 1);
	assert_string_equal(session_header_at(ROUTE_SESSION5 - ROUTE_SESSION0), "x-session-id");
}

static void without_a_policy_all_are_read_in_their_order(void **state)
{
	struct policy_file *file = good("{}");
	const struct session_policy *session = session_of(file);

	(void)state;
	assert_int_equal(session->header_count, 10);
	for (uint32_t i = 0; i < session->header_count; i++)
		assert_int_equal(session->headers[i].argument, i);
	assert_int_equal(session->ttl, 3600 * SECOND);
	assert_int_equal(session->max_pins, 100000);
	assert_int_equal(session->format, SESSION_ADDRESS);
	policy_file_free(file);
}

/* Capitals do not matter, nor does _ for -; another is one that must be sent. */
static void a_list_says_which_and_in_which_order(void **state)
{
	(void)state;
	expect_headers("[\"X-Session-Id\", \"x-aibrix-session-key\"]",
	               "x-session-id 5;x-aibrix-session-key 1;");
	expect_headers("[\"session-id\"]", "session-id 3;session_id 4;");
	expect_headers("[\"x-my-chat\", \"x_session_token\"]", "x-my-chat -1;x-session-token 7;");
	expect_headers("[]", "");
}

static void modes_stand_where_strategies_do(void **state)
{
	struct policy_file *file =
	        good("{\"defaults\": {\"session-mode\": \"soft\"},"
	             " \"instances\": {\"a\": {\"session_mode\": \"hard\"},"
	             "                 \"b\": {\"strategy\": \"session-affinity\"}}}");
	const struct policy *policy = policy_file_policy(file);

	(void)state;
	assert_int_equal(entry_session_mode(&policy->default_rule.chain[0]), SESSION_SOFT);
	assert_int_equal(entry_session_mode(&policy->instances[0].chain[0]), SESSION_HARD);
	assert_int_equal(policy->instances[1].chain[0].session_mode, SESSION_SOFT);
	policy_file_free(file);
	file = good("{\"instances\": {\"b\": {\"strategy\": \"session-affinity\"}}}");
	policy = policy_file_policy(file);
	assert_int_equal(entry_session_mode(&policy->instances[0].chain[0]), SESSION_HARD);
	assert_int_equal(entry_session_mode(&policy->default_rule.chain[0]), SESSION_OFF);
	policy_file_free(file);
}

static char path[64];

static void write_secret(const char *text)
{
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/infer-secret.%d", (int)getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

static const char *with_secret(void)
{
	static char text[256];

	snprintf(text, sizeof(text),
	         "{\"defaults\": {\"session\": {\"format\": \"opaque\", "
	         "\"secret-file\": \"%s\"}}}",
	         path);
	return text;
}

/* The policy, and so whatever shows it, holds the file's name only. */
static void a_secret_is_read_from_its_file(void **state)
{
	struct policy_file *file;
	char expected[512];

	(void)state;
	write_secret("42\nnot this\n");
	file = good(with_secret());
	assert_int_equal(session_of(file)->format, SESSION_OPAQUE);
	assert_true(session_of(file)->seed == 42);
	assert_string_equal(session_of(file)->secret_file, path);
	policy_file_free(file);
	write_secret("\n42\n");
	snprintf(expected, sizeof(expected),
	         "policy.json:1:62: error: defaults.session.secret-file: %s: its first line is "
	         "empty [secret]\n1 error\n",
	         path);
	assert_says(with_secret(), expected);
	(void)unlink(path);
}

static void opaque_ids_need_a_secret(void **state)
{
	(void)state;
	assert_says("{\"defaults\": {\"session\": {\"format\": \"opaque\"}}}",
	            "policy.json:1:37: error: defaults.session.format: opaque needs a "
	            "secret-file, or anybody can work the ids out [secret]\n"
	            "1 error\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_headers_are_those_of_the_contract),
		cmocka_unit_test(without_a_policy_all_are_read_in_their_order),
		cmocka_unit_test(a_list_says_which_and_in_which_order),
		cmocka_unit_test(modes_stand_where_strategies_do),
		cmocka_unit_test(a_secret_is_read_from_its_file),
		cmocka_unit_test(opaque_ids_need_a_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
