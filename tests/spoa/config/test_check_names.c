/* test_check_names.c - what a policy names must exist in HAProxy. Proves R019, R133. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/config/check_names.h"

static const char config[] = "defaults d\n"
                             "    mode http\n"
                             "backend be_llama70b\n"
                             "    server gpu1 10.0.0.1:8000 check\n"
                             "    server gpu2 10.0.0.2:8000\n"
                             "listen be_small\n"
                             "    server-template node 1-16 engines.local:8000\n"
                             "frontend be_front\n";

/* A file of its own for HAProxy's side; the caller removes it. */
static void write_config(char *name)
{
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, config, sizeof(config) - 1), sizeof(config) - 1);
	(void)close(fd);
}

/* The texts and rules of all problems, "%s" replaced by the name of the file. */
static void assert_says(const char *policy, const char *expected)
{
	char name[] = "/tmp/test_check_names_XXXXXX";
	const char *names[] = { name };
	struct problems *problems = problems_new();
	struct policy_file *file = policy_parse("p", policy, strlen(policy), problems);
	char said[4096] = "";
	size_t len = 0;

	write_config(name);
	assert_non_null(file);
	check_names(file, names, 1, NULL, problems);
	for (size_t i = 0; problems_at(problems, i); i++) {
		const struct problem *problem = problems_at(problems, i);
		const char *at = strstr(problem->text, name);
		size_t before = at ? (size_t)(at - problem->text) : strlen(problem->text);

		len += (size_t)snprintf(said + len, sizeof(said) - len, "%s: %.*s%s%s [%s]\n",
		                        problem->path, (int)before, problem->text, at ? "FILE" : "",
		                        at ? at + strlen(name) : "", problem->rule);
	}
	assert_string_equal(said, expected);
	(void)remove(name);
	policy_file_free(file);
	problems_free(problems);
}

static void servers_by_name_address_or_template_are_known(void **state)
{
	(void)state;
	assert_says("{\"instances\": {\"be_llama70b\": {\"replicas\": {\"gpu1\": {},"
	            " \"10.0.0.2:8000\": {}}}, \"be_small\": {\"replicas\": {\"node12\": {},"
	            " \"10.9.9.9:8000\": {}}}},"
	            " \"rules\": [{\"instances\": [\"be_small\"]}]}",
	            "");
	assert_says(
	        "{\"instances\": {\"be_llama70b\": {\"replicas\": {\"gpu*\": {}, \"*\": {},"
	        " \"10.0.*:8000\": {}, \"cpu*\": {}}}, \"be_small\": {\"replicas\": {"
	        "\"no*\": {}, \"nodes*\": {}}}}}",
	        "instances.be_llama70b.replicas.cpu*: no such server in backend be_llama70b "
	        "(FILE:3) [unknown-server]\n"
	        "instances.be_small.replicas.nodes*: no such server in backend be_small (FILE:6) "
	        "[unknown-server]\n");
}

static void what_haproxy_does_not_have_is_an_error(void **state)
{
	(void)state;
	assert_says("{\"instances\": {\"be_lama70b\": {}, \"be_llama70b\": {\"replicas\":"
	            " {\"gpu7\": {}, \"10.0.0.7:8000\": {}}},"
	            " \"be_small\": {\"replicas\": {\"node\": {}}}, \"be_front\": {}}}",
	            "instances.be_lama70b: no such backend in FILE (did you mean "
	            "\"be_llama70b\"?) [unknown-backend]\n"
	            "instances.be_llama70b.replicas.gpu7: no such server in backend be_llama70b "
	            "(FILE:3) [unknown-server]\n"
	            "instances.be_llama70b.replicas.10.0.0.7:8000: no such server in backend "
	            "be_llama70b (FILE:3) [unknown-server]\n"
	            "instances.be_small.replicas.node: no such server in backend be_small (FILE:6) "
	            "[unknown-server]\n"
	            "instances.be_front: no such backend in FILE [unknown-backend]\n");
}

static void lists_of_rules_and_models_are_looked_at(void **state)
{
	(void)state;
	assert_says("{\"models\": {\"m\": {\"instances\": [\"be_x\"]}},"
	            " \"rules\": [{\"model\": \"n\", \"instances\": [\"be_small\"],"
	            " \"fallback-services\": [\"cloud\"]}]}",
	            "models.m.instances[0]: no such backend in FILE [unknown-backend]\n"
	            "rules[0].fallback-services[0]: no such backend in FILE [unknown-backend]\n");
}

static void a_file_that_cannot_be_read_checks_nothing(void **state)
{
	const char *names[] = { "/nonexistent/haproxy.cfg" };
	struct problems *problems = problems_new();
	struct policy_file *file = policy_parse("p", "{\"instances\": {\"a\": {}}}", 24, problems);

	(void)state;
	assert_non_null(file);
	check_names(file, names, 1, "2.6", problems);
	assert_null(problems_at(problems, 0));
	policy_file_free(file);
	problems_free(problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_by_name_address_or_template_are_known),
		cmocka_unit_test(what_haproxy_does_not_have_is_an_error),
		cmocka_unit_test(lists_of_rules_and_models_are_looked_at),
		cmocka_unit_test(a_file_that_cannot_be_read_checks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
