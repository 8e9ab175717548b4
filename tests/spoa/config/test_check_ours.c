/* test_check_ours.c - in a HAProxy that serves others, too, what is not ours is left alone by the
 * checker; and several files are one configuration. Proves B061 in part.
 *
 * The frontend is the least that an ingress has of us: what is ours is said by an acl, and the
 * question hangs on it by two variables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/config/check_haproxy.h"

enum { TEXT_MAX = 1 << 13 };

static char folder[] = "/tmp/test_check_ours.XXXXXX";

static const char spoe[] = "[infer]\n"
                           "spoe-agent infer\n"
                           "    groups infer-route\n"
                           "    option var-prefix infer\n"
                           "    use-backend infer-agents\n"
                           "spoe-message infer-route\n"
                           "    args v=int(1) id=unique-id\n"
                           "spoe-group infer-route\n"
                           "    messages infer-route\n";

#define FRONTEND                                                                                   \
	"global\n"                                                                                 \
	"    stats socket /run/infer.sock level user\n"                                            \
	"defaults\n"                                                                               \
	"    mode http\n"                                                                          \
	"frontend http\n"                                                                          \
	"    log ring@infer-log format raw local0\n"                                               \
	"    filter spoe engine infer config spoe.cfg\n"

#define ASKED                                                                                      \
	"    acl ours var(txn.path_match),field(1,.) -m str chat code\n"                           \
	"    acl inside var(txn.in) -m found\n"                                                    \
	"    acl asked var(txn.t0) -m found\n"                                                     \
	"    http-request set-var(txn.in) int(1) if ours { path_beg /v1/ }\n"                      \
	"    http-request set-var(txn.t0) date(0,ms) if inside\n"                                  \
	"    http-request send-spoe-group infer infer-route if asked { nbsrv(infer-agents) gt 0 "  \
	"}\n"

#define STRIPPED(condition)                                                                        \
	"    http-request del-header x-infer- -m beg" condition "\n"                               \
	"    http-request del-header routing-strategy" condition "\n"                              \
	"    http-request del-header x-prefiller- -m beg" condition "\n"                           \
	"    http-request del-header x-data-parallel- -m beg" condition "\n"                       \
	"    http-request del-header x-encoder-hosts-ports" condition "\n"                         \
	"    http-request del-header x-kv-cache-source-host-port" condition "\n"                   \
	"    http-request del-header x-llm-d- -m beg" condition "\n"

#define POOLS                                                                                      \
	"    use_backend %[var(txn.path_match),field(1,.)]\n"                                      \
	"backend chat\n"                                                                           \
	"    server s1 10.0.0.1:8000\n"                                                            \
	"backend code\n"                                                                           \
	"    server s1 10.0.0.2:8000\n"                                                            \
	"backend shop\n"                                                                           \
	"    server s1 10.0.0.3:80\n"

#define REST                                                                                       \
	"backend infer-agents\n"                                                                   \
	"    mode tcp\n"                                                                           \
	"    server agent 127.0.0.1:9000\n"                                                        \
	"ring infer-log\n"                                                                         \
	"    server agent 127.0.0.1:9514\n"

static const char *written(const char *name, const char *text)
{
	static char paths[4][64];
	static unsigned next;
	char *path = paths[next++ % 4];
	FILE *file;

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs(text, file);
	(void)fclose(file);
	return path;
}

/* How often a rule is broken, by a text that holds this. */
static unsigned count(struct problems *problems, const char *rule, const char *part)
{
	const struct problem *problem;
	unsigned found = 0;

	for (size_t i = 0; (problem = problems_at(problems, i)); i++)
		found += strcmp(problem->rule, rule) == 0 &&
		         (strstr(problem->text, part) ||
		          (problem->path && strstr(problem->path, part)));
	return found;
}

static struct problems *checked(const char *text)
{
	const struct check_options options = { .version = "3.0.12" };
	struct problems *problems = problems_new();

	check_haproxy(written("haproxy.cfg", text), &options, problems);
	return problems;
}

static unsigned counted(const char *text, const char *rule, const char *part)
{
	struct problems *problems = checked(text);
	unsigned found = count(problems, rule, part);

	problems_free(problems);
	return found;
}

static void headers_of_ours_are_deleted_and_of_others_not(void **state)
{
	(void)state;
	assert_int_equal(counted(FRONTEND ASKED STRIPPED(" if ours") POOLS REST, "strip", ""), 0);
	assert_int_equal(counted(FRONTEND ASKED STRIPPED("") POOLS REST, "strip", ""), 0);
}

/* Asked is only who comes while the agent is there; and what ours is must be said of the question.
 */
static void another_condition_is_not_enough(void **state)
{
	static const char *const conditions[] = { STRIPPED(" if asked"), STRIPPED(" if !ours"),
		                                  STRIPPED(" unless ours"),
		                                  STRIPPED(" if METH_POST ours"),
		                                  STRIPPED(" if posted") };
	char text[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		(void)snprintf(text, sizeof(text), "%s%s%s", FRONTEND ASKED, conditions[i],
		               POOLS REST);
		assert_int_equal(counted(text, "strip", ""), 7);
	}
}

static void what_is_ours_is_said_of_each_question(void **state)
{
	static const char acl[] = "    acl ours var(txn.path_match),field(1,.) -m str chat\n";
	static const char *const questions[] = {
		"    http-request send-spoe-group infer infer-route\n",
		"    http-request send-spoe-group infer infer-route if ours || METH_POST\n",
		"    http-request send-spoe-group infer infer-route if ours or METH_POST\n",
		"    http-request send-spoe-group infer infer-route unless ours\n",
		"    http-request send-spoe-group infer infer-route if !ours\n",
		"    http-request send-spoe-group other infer-route if ours\n",
		/* what it hangs on is set by another rule as well */
		"    http-request set-var(txn.in) int(1) if METH_POST\n" ASKED,
		("    acl posted method -m str POST\n"
		 "    http-request send-spoe-group infer infer-route if posted\n"),
	};
	char text[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		bool posted = strstr(questions[i], "posted") != NULL;

		(void)snprintf(text, sizeof(text), "%s%s%s%s%s", FRONTEND, acl, questions[i],
		               posted ? STRIPPED(" if posted") : STRIPPED(" if ours"), POOLS REST);
		if (counted(text, "strip", "") != 7)
			fail_msg("taken: %s", questions[i]);
	}
	(void)snprintf(text, sizeof(text), "%s%s%s%s%s", FRONTEND, acl,
	               "    http-request send-spoe-group infer infer-route if METH_POST ours\n",
	               STRIPPED(" if ours"), POOLS REST);
	assert_int_equal(counted(text, "strip", ""), 0);
}

/* Without a list each backend that the ingress' rules match is ours. */
static void all_that_is_matched_may_be_ours(void **state)
{
	static const char matched[] = FRONTEND
	        "    acl ours var(txn.path_match) -m found\n"
	        "    http-request send-spoe-group infer infer-route if ours\n" STRIPPED(" if ours")
	                POOLS REST;

	(void)state;
	assert_int_equal(counted(matched, "strip", ""), 0);
	assert_int_equal(counted(matched, "maxconn", "backend shop"), 1);
}

static void backends_of_others_are_no_instances(void **state)
{
	struct problems *problems = checked(FRONTEND ASKED STRIPPED(" if ours") POOLS REST);

	(void)state;
	assert_int_equal(count(problems, "maxconn", "backend chat"), 1);
	assert_int_equal(count(problems, "maxconn", "backend code"), 1);
	assert_int_equal(count(problems, "maxconn", "backend shop"), 0);
	problems_free(problems);
	assert_int_equal(counted(FRONTEND STRIPPED("") POOLS REST, "maxconn", "backend shop"), 1);
	assert_int_equal(counted(FRONTEND "    http-request set-var(txn.path_match) str(shop) if "
	                                  "METH_GET\n" POOLS REST,
	                         "maxconn", "backend shop"),
	                 0);
}

/* The controller says of each whether a pod has it. */
static void slots_of_a_controller_are_room_for_replicas(void **state)
{
	static const char *const slots[] = { "    server s1 10.0.0.4:8000 enabled\n",
		                             "    server s1 127.0.0.1:1 disabled\n" };
	char text[TEXT_MAX];

	(void)state;
	assert_int_equal(counted(FRONTEND ASKED POOLS REST, "scaling", "backend code"), 1);
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(text, sizeof(text), "%s%s%s%s", FRONTEND ASKED POOLS,
		               "backend more\n    use-server %[var(txn.infer.replica)]\n", slots[i],
		               REST);
		assert_int_equal(counted(text, "scaling", "backend more"), 0);
	}
}

static void a_file_without_a_filter_is_a_part_of_the_other(void **state)
{
	const char *const files[] = { written("part.cfg", REST),
		                      written("main.cfg", FRONTEND ASKED POOLS),
		                      written("gone.cfg", "") };
	const struct check_options options = { .version = "3.0.12",
		                               .files = files,
		                               .file_count = 3 };
	struct problems *problems = problems_new();
	const struct problem *problem;
	bool said = false;

	(void)state;
	(void)unlink(files[2]);
	for (size_t i = 0; i < 3; i++)
		check_haproxy(files[i], &options, problems);
	assert_int_equal(count(problems, "log-target", "does not exist"), 0);
	assert_int_equal(count(problems, "contract", "no filter"), 0);
	assert_int_equal(count(problems, "unreadable", "gone.cfg"), 1);
	for (size_t i = 0; (problem = problems_at(problems, i)); i++) {
		if (strcmp(problem->rule, "spop-check") == 0) {
			assert_string_equal(problem->place.file, files[0]);
			said = true;
		}
		if (strcmp(problem->rule, "maxconn") == 0)
			assert_string_equal(problem->place.file, files[1]);
	}
	assert_true(said);
	problems_free(problems);
}

static void two_whole_files_are_two_configurations(void **state)
{
	const char *const files[] = { written("one.cfg", FRONTEND ASKED POOLS),
		                      written("two.cfg", FRONTEND ASKED POOLS REST) };
	const struct check_options options = { .version = "3.0.12",
		                               .files = files,
		                               .file_count = 2 };
	struct problems *problems = problems_new();

	(void)state;
	check_haproxy(files[0], &options, problems);
	assert_int_equal(count(problems, "log-target", "does not exist"), 1);
	check_haproxy(files[1], &options, problems);
	assert_int_equal(count(problems, "log-target", "does not exist"), 1);
	problems_free(problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_ours_are_deleted_and_of_others_not),
		cmocka_unit_test(another_condition_is_not_enough),
		cmocka_unit_test(what_is_ours_is_said_of_each_question),
		cmocka_unit_test(all_that_is_matched_may_be_ours),
		cmocka_unit_test(backends_of_others_are_no_instances),
		cmocka_unit_test(slots_of_a_controller_are_room_for_replicas),
		cmocka_unit_test(a_file_without_a_filter_is_a_part_of_the_other),
		cmocka_unit_test(two_whole_files_are_two_configurations),
	};
	static const char *const left[] = { "spoe.cfg", "haproxy.cfg", "part.cfg",
		                            "main.cfg", "one.cfg",     "two.cfg" };
	int failed;

	if (!mkdtemp(folder) || chdir(folder) != 0)
		return 1;
	(void)written("spoe.cfg", spoe);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		(void)unlink(left[i]);
	(void)rmdir(folder);
	return failed;
}
