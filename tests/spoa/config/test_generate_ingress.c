/* test_generate_ingress.c - the ingress' values hold the contract's lines, touch only
 * what is ours, and fit HAProxy's limits. Proves B061, P116, P117, P118. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/config/generate.h"
#include "spoa/messages/contract.h"

static struct generate of_version(unsigned version)
{
	struct generate generate;

	generate_init(&generate);
	generate.version = version;
	return generate;
}

static char *values_of(const struct generate *generate)
{
	struct error error = { "" };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_true(generate_ingress(generate, out, &error));
	(void)fclose(out);
	return text;
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned count = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		count++;
	return count;
}

static void the_filter_stands_once_and_in_the_frontend_only(void **state)
{
	struct generate generate = of_version(0);
	char *values = values_of(&generate);
	const char *filter = strstr(values, "      filter spoe engine infer config "
	                                    "/etc/inference-spoa/haproxy/spoe.cfg\n");

	(void)state;
	assert_non_null(filter);
	assert_int_equal(count_of(values, "filter spoe"), 1);
	assert_true(strstr(values, "frontend-config-snippet: |") < filter);
	assert_true(filter < strstr(values, "auxiliaryConfig: |"));
	free(values);
}

/* Between the controller's variables and its use_backend rules. */
static void the_route_is_changed_only_where_the_agent_says_so(void **state)
{
	struct generate generate = of_version(302);
	char *values = values_of(&generate);

	(void)state;
	assert_non_null(strstr(values, "      http-request set-var(txn.path_match) "
	                               "var(txn.infer.instance) if { var(txn.infer.instance) -m "
	                               "found }\n"));
	assert_null(strstr(values, "use_backend"));
	assert_null(strstr(values, "default_backend"));
	assert_null(strstr(values, "models.map"));
	assert_null(strstr(values, "${INFER_ETC}"));
	assert_int_equal(count_of(values, "${"), 2); /* the seed */
	assert_non_null(strstr(values, "acl infer_ours      var(txn.path_match) -m found\n"));
	free(values);
}

static void named_backends_bound_what_is_asked_and_where_it_may_go(void **state)
{
	struct generate generate = of_version(302);
	struct error error = { "" };
	char *values;

	(void)state;
	assert_true(generate_backend(&generate, "ai_svc_a_8000", &error));
	assert_true(generate_backend(&generate, "ai_svc_b_http", &error));
	values = values_of(&generate);
	assert_non_null(strstr(values, "      acl infer_ours      var(txn.path_match),field(1,.) "
	                               "-m str ai_svc_a_8000 ai_svc_b_http\n"));
	assert_non_null(strstr(values, "var(txn.infer.instance) -m found } { "
	                               "var(txn.infer.instance) -m str ai_svc_a_8000 "
	                               "ai_svc_b_http }\n"));
	assert_non_null(strstr(values, "int(1) if infer_ours { path_beg /v1/"));
	assert_non_null(strstr(values, "        - --only-backend=ai_svc_a_8000,ai_svc_b_http\n"));
	assert_int_equal(count_of(values, "http-request del-header"),
	                 count_of(values, " if infer_ours\n") + 1);
	assert_non_null(strstr(values, "del-header x-prefiller- -m beg if infer_ours\n"));
	assert_non_null(strstr(values, "x-request-id %[unique-id] if infer_asked\n"));
	free(values);
}

static void the_ingress_may_choose_the_instance_itself(void **state)
{
	struct generate generate = of_version(302);
	char *values;

	(void)state;
	generate.topology = GENERATE_LOWER;
	values = values_of(&generate);
	assert_non_null(strstr(
	        values,
	        "      http-request set-var(txn.infer_be) var(txn.path_match),field(1,.)\n"));
	assert_true(strstr(values, "set-var(txn.infer_be)") < strstr(values, "send-spoe-group"));
	assert_null(strstr(values, "monitor"));
	assert_null(strstr(values, "/metrics"));
	free(values);
}

static void a_log_profile_leaves_the_access_log_alone_from_3_1_on(void **state)
{
	struct generate new = of_version(301), old = of_version(300);
	char *with = values_of(&new), *without = values_of(&old);

	(void)state;
	assert_int_equal(count_of(with, " profile infer local0\n"), 2);
	assert_non_null(strstr(with, "    log-profile infer\n        on any drop\n"));
	assert_null(strstr(with, "log-format"));
	assert_null(strstr(without, "profile"));
	assert_int_equal(count_of(without, "      log-format \"infer v=1 ev=end id=%ID "), 1);
	assert_int_equal(count_of(without, " B=%B "), 1);
	assert_int_equal(count_of(with, " B=%B "), 1);
	free(without);
	free(with);
}

static void agents_of_their_own_are_all_told_and_one_decides(void **state)
{
	struct generate generate = of_version(302);
	struct error error = { "" };
	char *values;

	(void)state;
	assert_true(generate_agent(&generate, "10.96.0.10", &error));
	assert_true(generate_agent(&generate, "10.96.0.11:9001", &error));
	assert_true(generate_name(&generate, "infer", &error));
	values = values_of(&generate);
	assert_null(strstr(values, "extraContainers"));
	assert_null(strstr(values, "127.0.0.1"));
	assert_non_null(strstr(values, "        server agent0 10.96.0.10:9000\n"
	                               "        server agent1 10.96.0.11:9001 backup\n"));
	assert_non_null(strstr(values, "        server agent0 10.96.0.10:9514\n"
	                               "        server agent1 10.96.0.11:9514\n"));
	assert_non_null(strstr(values, "      log 10.96.0.10:9514 len 2048"));
	assert_non_null(strstr(values, "      log 10.96.0.11:9514 len 2048"));
	assert_non_null(strstr(values, "configMap: {name: infer-haproxy}\n"));
	assert_null(strstr(values, "configMap: {name: infer-policy}\n"));
	free(values);
}

/* It would take the ingress out of service with the agent; neither socket can change HAProxy. */
static void the_side_car_is_not_waited_for_and_has_no_admin_socket(void **state)
{
	struct generate generate = of_version(302);
	char *values = values_of(&generate);

	(void)state;
	assert_null(strstr(values, "readinessProbe:\n"));
	assert_non_null(strstr(values, "livenessProbe:"));
	assert_int_equal(count_of(values, "stats socket"), 1);
	assert_non_null(strstr(values, "stats socket /run/inference-spoa-hap.sock mode 660 level "
	                               "user\n"));
	assert_non_null(strstr(values, "- --haproxy=/run/inference-spoa-hap.sock\n"));
	assert_int_equal(count_of(values, "subPath: run}"), count_of(values, "subPath:"));
	free(values);
}

static void no_comment_and_no_long_line_reaches_haproxy(void **state)
{
	struct generate generate = of_version(302);
	struct error error = { "" };
	char *values, *rest, *line;
	bool haproxy = false;
	unsigned lines = 0;

	(void)state;
	while (generate_backend(&generate, "a-namespace_svc_service_8000", &error)) {
	}
	assert_true(strstr(error.text, "more than 48") != NULL);
	values = rest = values_of(&generate);
	while ((line = strsep(&rest, "\n"))) {
		if (strstr(line, ": |"))
			haproxy = true;
		else if (strncmp(line, "    ", 4) != 0)
			haproxy = false;
		if (!haproxy)
			continue;
		lines++;
		assert_null(strchr(line, '#'));
		assert_true(strlen(line) < GENERATE_LINE_MAX);
		assert_true(strlen(line) == 0 || line[strlen(line) - 1] != ' ');
	}
	assert_true(lines > 80);
	assert_int_equal(generate.ingress.backend_count, GENERATE_BACKENDS_MAX);
	free(values);
}

static void bad_words_are_refused(void **state)
{
	static const char *const names[] = { "",    "-a",
		                             "a-",  "A",
		                             "a_b", "a23456789012345678901234567890123456789012" };
	struct generate generate = of_version(0);
	struct error error = { "" };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(generate_name(&generate, names[i], &error));
	assert_string_equal(generate.ingress.name, "inference-spoa");
	assert_false(generate_backend(&generate, "a b", &error));
	assert_false(generate_backend(&generate, "", &error));
	assert_false(generate_agent(&generate, "", &error));
	assert_false(generate_agent(&generate, "10.0.0.1:", &error));
	assert_false(generate_agent(&generate, ":9000", &error));
	assert_false(generate_agent(&generate, "infer-0.ai.svc:9000", &error));
	assert_int_equal(generate.ingress.backend_count + generate.ingress.agent_count, 0);
	for (unsigned i = 0; i < GENERATE_AGENTS_MAX; i++)
		assert_true(generate_agent(&generate, "10.0.0.1", &error));
	assert_false(generate_agent(&generate, "10.0.0.1", &error));
	generate.topology = GENERATE_UPPER;
	assert_false(generate_ingress(&generate, out, &error));
	(void)fclose(out);
	assert_int_equal(size, 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_filter_stands_once_and_in_the_frontend_only),
		cmocka_unit_test(the_route_is_changed_only_where_the_agent_says_so),
		cmocka_unit_test(named_backends_bound_what_is_asked_and_where_it_may_go),
		cmocka_unit_test(the_ingress_may_choose_the_instance_itself),
		cmocka_unit_test(a_log_profile_leaves_the_access_log_alone_from_3_1_on),
		cmocka_unit_test(agents_of_their_own_are_all_told_and_one_decides),
		cmocka_unit_test(the_side_car_is_not_waited_for_and_has_no_admin_socket),
		cmocka_unit_test(no_comment_and_no_long_line_reaches_haproxy),
		cmocka_unit_test(bad_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
