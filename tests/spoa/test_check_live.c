/* test_check_live.c - each name a client may send, against what each engine lists; and who does not
 * answer. Proves R015, R019. */
#include "tests/policies/state/listed.h"

#include <stdlib.h>

#include "spoa/check_live.h"

static struct policy_file *file;
static struct live live;
static struct live_engine engines[2];

/* Instance a with two engines, of a policy. */
static void open_live(const char *policy)
{
	const struct server_fact servers[] = { server("a", "s1", "10.0.0.1:80"),
		                               server("a", "s2", "10.0.0.2:80") };
	struct problems *problems = problems_new();

	file = policy_parse("policy.json", policy, strlen(policy), problems);
	assert_non_null(file);
	problems_free(problems);
	memset(engines, 0, sizeof(engines));
	live = (struct live){ .fleet = fleet_new(&limits),
		              .haproxy = { { .address = "/h.sock", .version = "3.0.11" } },
		              .haproxy_count = 1,
		              .engines = engines,
		              .engine_count = 2 };
	assert_non_null(live.fleet);
	(void)apply(live.fleet, 0, servers, 2);
	fleet_bind(live.fleet, policy_file_policy(file));
	for (uint32_t i = 0; i < 2; i++) {
		engines[i].target = id_at(live.fleet, i == 0 ? "10.0.0.1:80" : "10.0.0.2:80");
		engines[i].status = 200;
	}
}

static void lists(uint32_t engine, const char *first, const char *second)
{
	engines[engine].count = second ? 2 : 1;
	strcpy(engines[engine].names[0], first);
	strcpy(engines[engine].names[1], second ? second : "");
}

static void assert_says(const char *expected)
{
	struct problems *problems = problems_new();
	char *printed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);

	assert_non_null(out);
	check_live(file, &live, problems);
	problems_print(problems, out);
	(void)fclose(out);
	assert_string_equal(printed, expected);
	free(printed);
	problems_free(problems);
	policy_file_free(file);
	fleet_free(live.fleet);
}

#define SAID_FIRST "policy.json: note: /h.sock: HAProxy 3.0.11 [live-version]\n"

static void what_runs_is_told_where_all_is_well(void **state)
{
	(void)state;
	open_live("{\"instances\": {\"a\": {\"models\": [\"m\"]}}}");
	lists(0, "m", NULL);
	lists(1, "m", "m-lora");
	strcpy(engines[1].version, "0.33.0");
	assert_says(SAID_FIRST "policy.json: note: a 10.0.0.1:80: serves m [live-version]\n"
	                       "policy.json: note: a 10.0.0.2:80: serves m, m-lora; version 0.33.0 "
	                       "[live-version]\n"
	                       "3 notes\n");
}

static void a_name_that_an_engine_does_not_serve_is_an_error(void **state)
{
	(void)state;
	open_live("{\"instances\": {\"a\": {\"models\": [\"m\"]}}}");
	lists(0, "m", NULL);
	lists(1, "n", NULL);
	assert_says(SAID_FIRST "policy.json: note: a 10.0.0.1:80: serves m [live-version]\n"
	                       "policy.json: note: a 10.0.0.2:80: serves n [live-version]\n"
	                       "policy.json: error: a 10.0.0.2:80: does not serve m; it serves n "
	                       "[live-model]\n"
	                       "1 error, 3 notes\n");
}

static void another_name_upstream_takes_a_body_that_nobody_changes(void **state)
{
	(void)state;
	open_live("{\"instances\": {\"a\": {\"models\": [\"m\"], \"upstream-model\": \"u\"}}}");
	lists(0, "u", NULL);
	lists(1, "u", "m");
	assert_says(SAID_FIRST
	            "policy.json: note: a 10.0.0.1:80: serves u [live-version]\n"
	            "policy.json: warning: a 10.0.0.1:80: serves u, but the body says m: serve "
	            "that as an alias (vLLM: --served-model-name), or read the header "
	            "x-infer-model; to change the body takes the relay, which this version does "
	            "not have [live-model]\n"
	            "policy.json: note: a 10.0.0.2:80: serves u, m [live-version]\n"
	            "1 warning, 3 notes\n");
}

static void aliases_and_models_of_rules_are_names_too(void **state)
{
	(void)state;
	open_live("{\"models\": {\"m\": {\"aliases\": [\"gpt-4\"], \"instances\": [\"a\"]}},"
	          " \"rules\": [{\"model\": \"x*\", \"instances\": [\"a\"]},"
	          " {\"model\": \"other\", \"instances\": [\"b\"]}]}");
	lists(0, "m", NULL);
	lists(1, "m", "gpt-4");
	assert_says(SAID_FIRST
	            "policy.json: note: a 10.0.0.1:80: serves m [live-version]\n"
	            "policy.json: error: a 10.0.0.1:80: does not serve gpt-4; it serves m "
	            "[live-model]\n"
	            "policy.json: note: a 10.0.0.2:80: serves m, gpt-4 [live-version]\n"
	            "1 error, 3 notes\n");
}

static void who_does_not_answer_is_named(void **state)
{
	(void)state;
	open_live("{\"instances\": {\"a\": {\"models\": [\"m\"]}, \"z\": {\"weight\": 2}}}");
	strcpy(live.haproxy[0].error, "Connection refused");
	engines[0].status = 401;
	engines[1].status = 0;
	strcpy(engines[1].error, "timed out");
	assert_says("policy.json: error: /h.sock: does not answer: Connection refused "
	            "[live-haproxy]\n"
	            "policy.json: error: instances.z: no HAProxy that was asked has a backend of "
	            "this name [live-backend]\n"
	            "policy.json: warning: a 10.0.0.1:80: wants a credential: put it into a file, "
	            "and that into engine-credential-file [live-engine]\n"
	            "policy.json: warning: a 10.0.0.2:80: cannot be asked for its models: timed "
	            "out [live-engine]\n"
	            "2 errors, 2 warnings\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_runs_is_told_where_all_is_well),
		cmocka_unit_test(a_name_that_an_engine_does_not_serve_is_an_error),
		cmocka_unit_test(another_name_upstream_takes_a_body_that_nobody_changes),
		cmocka_unit_test(aliases_and_models_of_rules_are_names_too),
		cmocka_unit_test(who_does_not_answer_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
