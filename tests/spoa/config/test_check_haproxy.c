/* test_check_haproxy.c - each rule says its line, its words, and nothing else is
 * said; the shipped files are clean. Proves P007, P029, P030, P031, P033, P036,
 * P041, P043, P044, P050, P083, P088, P092, P093, P094, P099, P120, each as far as
 * the checker goes.
 *
 * A row is the shipped pair of files with one edit; what the pair itself says
 * (warnings about static servers, a note about the buffer) is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "policies/defaults.h"
#include "policies/strategies.h"
#include "spoa/config/check_haproxy.h"
#include "spoa/config/generate.h"
#include "spoa/config/policy.h"
#include "spoa/messages/contract.h"
#include "tests/spoa/config/parsed.h"

enum { FILE_MAX = 1 << 16 };

enum file { MAIN, SPOE };

struct row {
	const char *rule;
	enum severity severity;
	enum file file;  /* that is edited */
	const char *old; /* every occurrence becomes... */
	const char *new;
	const char *at;      /* the first line that holds this is named; NULL: no line */
	const char *text;    /* of the problem, in part */
	const char *version; /* NULL: 2.6.12-1+deb12u4 */
	enum file at_file;
};

static const char sessions[] = "{\"defaults\": {\"level2\": {\"strategy\": \"session-affinity\"},"
                               " \"session\": {\"headers\": [\"x-my-chat\", \"x-session-id\"]}}}";

static char folder[256];

static void read_file(const char *path, char *ret_text)
{
	FILE *file = fopen(path, "r");
	size_t size;

	assert_non_null(file);
	size = fread(ret_text, 1, FILE_MAX - 1, file);
	ret_text[size] = '\0';
	(void)fclose(file);
}

static void of_tree(const char *path, char *ret_text)
{
	char name[4096];
	size_t root = strlen(__FILE__) - strlen("tests/spoa/config/test_check_haproxy.c");

	(void)snprintf(name, sizeof(name), "%.*s%s", (int)root, __FILE__, path);
	read_file(name, ret_text);
}

static const char *write_file(const char *name, const char *text)
{
	static char path[2][512];
	char *at = path[name[0] == 's' ? SPOE : MAIN];
	FILE *file;

	(void)snprintf(at, sizeof(path[0]), "%s/%s", folder, name);
	file = fopen(at, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	(void)fclose(file);
	return at;
}

static void replaced(const char *text, const char *old, const char *new, char *ret_text)
{
	const char *at = strstr(text, old);

	if (!at)
		fail_msg("the base has no \"%s\"", old);
	ret_text[0] = '\0';
	for (; at; text = at + strlen(old), at = strstr(text, old)) {
		(void)strncat(ret_text, text, (size_t)(at - text));
		(void)strncat(ret_text, new, FILE_MAX - strlen(ret_text) - 1);
	}
	(void)strncat(ret_text, text, FILE_MAX - strlen(ret_text) - 1);
}

static uint32_t line_of(const char *text, const char *what)
{
	const char *at = strstr(text, what);
	uint32_t line = 1;

	if (!at)
		fail_msg("nothing holds \"%s\"", what);
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static bool expected_of_base(const struct problem *problem)
{
	return strcmp(problem->rule, "scaling") == 0 || strcmp(problem->rule, "bufsize") == 0;
}

/* More of the same rule, of another backend or by what follows, is no surprise. */
static bool surprises(const struct problem *problem, const struct problem *found)
{
	return !expected_of_base(problem) && (!found || strcmp(problem->rule, found->rule) != 0);
}

static const struct problem *wanted_problem(struct problems *problems, const struct row *row)
{
	const struct problem *problem;

	for (size_t i = 0; (problem = problems_at(problems, i)); i++)
		if (strcmp(problem->rule, row->rule) == 0 && strstr(problem->text, row->text))
			return problem;
	return NULL;
}

/* Writes the pair of files with the edit, checks them. */
static struct problems *checked(const struct row *row, const char *ret_text[2],
                                const char *ret_path[2])
{
	static char base[2][FILE_MAX], edited[FILE_MAX];
	const struct check_options options = { .version = row->version ? row->version
		                                                       : "2.6.12-1+deb12u4" };
	struct problems *problems = problems_new();
	const bool head = row->version && row->version[0] == '3';

	of_tree("haproxy/haproxy.cfg", base[MAIN]);
	of_tree(head ? "haproxy/spoe-3.cfg" : "haproxy/spoe.cfg", base[SPOE]);
	replaced(base[row->file], row->old, row->new, edited);
	ret_text[MAIN] = row->file == MAIN ? edited : base[MAIN];
	ret_text[SPOE] = row->file == SPOE ? edited : base[SPOE];
	ret_path[MAIN] = write_file("haproxy.cfg", ret_text[MAIN]);
	ret_path[SPOE] = write_file(head ? "spoe-3.cfg" : "spoe.cfg", ret_text[SPOE]);
	check_haproxy(ret_path[MAIN], &options, problems);
	return problems;
}

static bool row_holds(const struct row *row)
{
	const char *text[2], *path[2];
	struct problems *problems = checked(row, text, path);
	const struct problem *problem, *found = wanted_problem(problems, row);
	bool holds = found && found->severity == row->severity;

	for (size_t i = 0; (problem = problems_at(problems, i)); i++)
		holds = holds && !surprises(problem, found);
	if (holds && row->at)
		holds = found->place.line == line_of(text[row->at_file], row->at) &&
		        strcmp(found->place.file, path[row->at_file]) == 0;
	else if (holds)
		holds = found->place.line == 0;
	if (!holds) {
		(void)fprintf(stderr, "row %s, \"%s\" -> \"%s\":\n", row->rule, row->old, row->new);
		problems_print(problems, stderr);
	}
	problems_free(problems);
	return holds;
}

#define E SEVERITY_ERROR
#define W SEVERITY_WARNING
#define I SEVERITY_NOTE

static const struct row rows[] = {
#include "tests/spoa/config/haproxy/rows.inc"
};

#undef E
#undef W
#undef I

static void each_rule_says_its_line_and_nothing_else(void **state)
{
	unsigned broken = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		broken += !row_holds(&rows[i]);
	assert_int_equal(broken, 0);
}

/* Of a shipped file as it stands in the tree. */
static void assert_clean(const char *path, const char *version)
{
	char name[4096];
	size_t root = strlen(__FILE__) - strlen("tests/spoa/config/test_check_haproxy.c");
	const struct check_options options = { .version = version };
	struct problems *problems = problems_new();
	const struct problem *problem;

	(void)snprintf(name, sizeof(name), "%.*s%s", (int)root, __FILE__, path);
	check_haproxy(name, &options, problems);
	for (size_t i = 0; (problem = problems_at(problems, i)); i++)
		if (!expected_of_base(problem) && problem->severity != SEVERITY_NOTE) {
			problems_print(problems, stderr);
			fail_msg("%s is not clean", path);
		}
	problems_free(problems);
}

static void the_shipped_files_are_clean(void **state)
{
	static const char *const versions[] = { NULL, "2.6.12-1+deb12u4", "3.0.11-1+deb13u4",
		                                "3.2.26" };

	size_t root = strlen(__FILE__) - strlen("tests/spoa/config/test_check_haproxy.c");
	char spoe_files[4096];

	(void)state;
	(void)snprintf(spoe_files, sizeof(spoe_files), "%.*shaproxy", (int)root, __FILE__);
	(void)setenv("INFER_ETC", spoe_files, 1);
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		assert_clean("haproxy/haproxy.cfg", versions[i]);
		assert_clean("haproxy/split/upper.cfg", versions[i]);
		assert_clean("haproxy/split/lower.cfg", versions[i]);
	}
	(void)setenv("INFER_ETC", folder, 1);
}

static struct problems *of_edit(enum file file, const char *old, const char *new,
                                const char *version)
{
	const struct row row = { .file = file, .old = old, .new = new, .version = version };
	const char *text[2], *path[2];

	return checked(&row, text, path);
}

static unsigned count_of(struct problems *problems, const char *rule, const char *part)
{
	const struct problem *problem;
	unsigned count = 0;

	for (size_t i = 0; (problem = problems_at(problems, i)); i++)
		count += strcmp(problem->rule, rule) == 0 && strstr(problem->text, part);
	problems_free(problems);
	return count;
}

static void a_full_name_has_at_most_63_letters(void **state)
{
	/* "txn." + PREFIX + ".priority_offset", with 43 and with 44 letters. */
	static const char fits[] = "var-prefix a234567890123456789012345678901234567890123";
	static const char too_long[] = "var-prefix a2345678901234567890123456789012345678901234";

	(void)state;
	assert_int_equal(count_of(of_edit(SPOE, "var-prefix infer", fits, NULL), "names", ""), 0);
	assert_int_equal(count_of(of_edit(SPOE, "var-prefix infer", too_long, NULL), "names",
	                          ".priority_offset has 64 letters"),
	                 1);
}

#define COUNTED(...) +1
enum { SHIPPED = 0 ROUTE_ARGUMENTS(COUNTED) + 32 }; /* with the default ladder's hashes */
#undef COUNTED

static void arguments_and_lines_have_their_limits(void **state)
{
	static char lines[FILE_MAX];
	size_t used = (size_t)snprintf(lines, sizeof(lines), "spoe-message infer-route\n");

	(void)state;
	for (unsigned i = 0; i < 256 - SHIPPED; i++) {
		if (i == 255 - SHIPPED)
			assert_int_equal(
			        count_of(of_edit(SPOE, "spoe-message infer-route\n", lines, NULL),
			                 "args", ""),
			        0);
		used += (size_t)snprintf(lines + used, sizeof(lines) - used,
		                         "    args s9=req.fhdr(a%u)\n", i);
	}
	assert_int_equal(count_of(of_edit(SPOE, "spoe-message infer-route\n", lines, NULL), "args",
	                          "infer-route has 256 arguments"),
	                 1);
	used = (size_t)snprintf(lines, sizeof(lines), "    args");
	for (unsigned i = 0; i < 64; i++)
		used += (size_t)snprintf(lines + used, sizeof(lines) - used, " s9=path");
	(void)snprintf(lines + used, sizeof(lines) - used, "\n    args v=int(1) ");
	assert_int_equal(
	        count_of(of_edit(SPOE, "    args v=int(1) ", lines, NULL), "args", "65 words"), 2);
}

static void a_comment_silences_a_rule(void **state)
{
	static const char here[] =
	        "    # inference-spoa: ignore guard-err guard-up\n"
	        "    http-request send-spoe-group infer infer-route if infer_asked\n";

	(void)state;
	assert_int_equal(
	        count_of(
	                of_edit(MAIN,
	                        "    http-request send-spoe-group infer infer-route if infer_asked "
	                        "infer_up\n",
	                        here, NULL),
	                "guard-up", ""),
	        0);
	assert_int_equal(count_of(of_edit(MAIN, "global\n",
	                                  "# inference-spoa: ignore scaling\nglobal\n", NULL),
	                          "scaling", ""),
	                 0);
}

static void a_socket_of_admins_beside_ours_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(count_of(of_edit(MAIN, "    stats socket",
	                                  "    stats socket /run/admin.sock level admin\n"
	                                  "    stats socket",
	                                  NULL),
	                          "level", ""),
	                 0);
	assert_int_equal(
	        count_of(of_edit(MAIN, "defaults\n", "global\n    nbthread 2\ndefaults\n", NULL),
	                 "runtime-socket", ""),
	        0);
}

/* As haproxy spoe --header prints them; of infer-first they are none. */
static void any_header_may_be_sent_of_a_request(void **state)
{
	static const char sent[] = "hdr.x-app=req.fhdr(x-app) slo-e2e=";

	(void)state;
	assert_int_equal(count_of(of_edit(SPOE, "slo-e2e=", sent, NULL), "contract", ""), 0);
	assert_int_equal(count_of(of_edit(SPOE, "slo-e2e=", "hdr.=str(a) slo-e2e=", NULL),
	                          "contract", "hdr. is no argument of infer-route"),
	                 1);
	assert_int_equal(
	        count_of(of_edit(SPOE, "st=status", "st=status hdr.x-app=req.fhdr(x-app)", NULL),
	                 "contract", "hdr.x-app is no argument of infer-first"),
	        1);
}

static const char asking[] =
        "    default-server agent-check agent-addr 10.9.9.9 agent-port 9902 weight 100\n"
        "    server a0 \"${INFER_A0}\" agent-send \"svc-a/a0\\n\"\n"
        "    server a3 engine.local:8000 agent-send \"10.0.0.1:8000\\n\"";

/* In two lines, by name or by an address that is not written here. */
static void a_server_that_asks_well_is_left_alone(void **state)
{
	static const struct {
		const char *rule;
		unsigned count;
	} expected[] = { { "agent-send", 2 /* a1, a2 */ },
		         { "agent-port", 0 },
		         { "agent-addr", 0 },
		         { "weight", 0 },
		         { "scaling", 1 /* svc-b: who asks by name is of no template */ } };

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(
		        count_of(of_edit(MAIN, "    server a0 \"${INFER_A0}\"", asking, NULL),
		                 expected[i].rule, ""),
		        expected[i].count);
}

/* What the generator prints is what the checker wants. */
static void the_generated_agent_checks_are_clean(void **state)
{
	const struct check_options options = { .version = "3.2.26", .agent_check_port = 9902 };
	struct problems *problems = problems_new();
	const struct problem *problem;
	static char base[FILE_MAX];
	struct generate generate;
	struct error error = { "" };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	generate_init(&generate);
	assert_true(generate_agent_check(&generate, "127.0.0.1:9902", &error));
	assert_true(generate_instance(&generate, "own=10.0.0.1:80,10.0.0.2:80", &error));
	generate_config(&generate, out);
	(void)fclose(out);
	of_tree("haproxy/spoe-3.cfg", base);
	(void)write_file("spoe-3.cfg", base);
	check_haproxy(write_file("haproxy.cfg", text), &options, problems);
	for (size_t i = 0; (problem = problems_at(problems, i)); i++)
		if (strcmp(problem->rule, "bufsize") != 0)
			fail_msg("[%s] %s", problem->rule, problem->text);
	problems_free(problems);
	free(text);
}

static void the_agents_port_is_known_when_it_is_told(void **state)
{
	struct problems *problems = problems_new();
	const struct check_options options = { .version = "3.2.26", .agent_check_port = 9903 };
	static char base[FILE_MAX], edited[FILE_MAX];

	(void)state;
	of_tree("haproxy/spoe-3.cfg", base);
	(void)write_file("spoe-3.cfg", base);
	of_tree("haproxy/haproxy.cfg", base);
	replaced(base, "    server a0 \"${INFER_A0}\"", asking, edited);
	check_haproxy(write_file("haproxy.cfg", edited), &options, problems);
	assert_int_equal(
	        count_of(problems, "agent-port", "asks at port 9902, the agent answers at 9903"),
	        4);
}

static void an_unknown_version_is_walked_as_old_and_as_new(void **state)
{
	struct problems *problems = problems_new();
	const struct check_options options = { .version = NULL };
	static char base[FILE_MAX], edited[FILE_MAX];

	(void)state;
	of_tree("haproxy/spoe.cfg", base);
	(void)write_file("spoe.cfg", base);
	of_tree("haproxy/spoe-3.cfg", base);
	(void)write_file("spoe-3.cfg", base);
	of_tree("haproxy/haproxy.cfg", base);
	replaced(base, "    retries 1 ", "    retries 0 ", edited);
	replaced(edited, "set-var(txn.infer_o0)", "set-var(txn.infer_o1)", base);
	check_haproxy(write_file("haproxy.cfg", base), &options, problems);
	assert_int_equal(problems_count(problems, SEVERITY_ERROR), 2);
	assert_int_equal(problems_count(problems, SEVERITY_NOTE), 1);
	problems_free(problems);
}

/* The SPOE file as shipped is beside it; the other one, to be edited. */
static void shipped(char ret_config[FILE_MAX])
{
	of_tree("haproxy/spoe.cfg", ret_config);
	(void)write_file("spoe.cfg", ret_config);
	of_tree("haproxy/haproxy.cfg", ret_config);
}

/* How often that is told of a configuration. */
static unsigned told(const char *config, const struct check_options *options, const char *rule,
                     const char *text)
{
	struct problems *problems = problems_new();

	check_haproxy(write_file("haproxy.cfg", config), options, problems);
	return count_of(problems, rule, text);
}

static void the_policy_has_its_say(void **state)
{
	struct ladder ladder;
	struct error error = { "" };
	const struct check_options options = {
		.version = "2.6.23", .ladder = &ladder, .ledger_ttl_s = 500, .tenant_leaves = true
	};
	struct problems *problems = problems_new();
	static char base[FILE_MAX];

	(void)state;
	assert_true(ladder_parse((struct span){ "2x4k", 4 }, &ladder, &error));
	shipped(base);
	check_haproxy(write_file("haproxy.cfg", base), &options, problems);
	assert_int_equal(problems_count(problems, SEVERITY_NOTE), 0); /* the buffer is ample */
	assert_int_equal(count_of(problems, "seed", "INFER_SEED"), 2);
	assert_int_equal(told(base, &options, "ttl", "TTL 500s"), 1);
	assert_int_equal(told(base, &options, "ladder", "ladder"), 33);
}

/* With sessions, an id must go out, and keys under other names must come in. */
static void sessions_need_their_headers(void **state)
{
	struct policy_file *file = good(sessions);
	struct check_options options = { .version = "2.6.23", .ledger_ttl_s = 600 };
	static char base[FILE_MAX], edited[FILE_MAX];

	(void)state;
	options.policy = policy_file_policy(file);
	shipped(base);
	replaced(base, "set-header x-session-id", "set-header x-other-id", edited);
	assert_int_equal(told(edited, &options, "session-id", "no http-response"), 0);
	replaced(base, "    http-response set-header x-session-id", "    # ", edited);
	assert_int_equal(told(edited, &options, "header", "--header x-my-chat"), 1);
	assert_int_equal(told(edited, &options, "session-id", "no http-response set-header"), 1);
	policy_file_free(file);
}

/* How often it is told that what a policy of this strategy chooses is not handed over. */
static unsigned said_of_strategy(const char *strategy, const char *old, const char *new,
                                 const char *rule)
{
	static char base[FILE_MAX], edited[FILE_MAX];
	struct policy policy;
	const struct check_options options = { .version = "2.6.23", .policy = &policy };

	policy_default(&policy);
	policy.default_instance.chain[0].strategy =
	        strategy_named((struct span){ strategy, strlen(strategy) });
	shipped(base);
	replaced(base, old, new, edited);
	return told(edited, &options, rule, "");
}

static unsigned not_handed_over(const char *strategy, const char *old, const char *new)
{
	return said_of_strategy(strategy, old, new, "hand-over");
}

/* leastconn fills the servers' own queues first, one of which may be long. */
static void who_is_late_everywhere_waits_for_any_server(void **state)
{
	static const char pulling[] = "slo-least-load-pulling", servers[] = "maxqueue 32 ";

	(void)state;
	assert_int_equal(said_of_strategy(pulling, servers, servers, "pulling"), 2);
	assert_int_equal(said_of_strategy(pulling, servers, "", "pulling"), 0);
	assert_int_equal(said_of_strategy(pulling, servers, "maxqueue 0 ", "pulling"), 0);
	assert_int_equal(said_of_strategy("slo-least-load", servers, servers, "pulling"), 0);
	assert_int_equal(
	        said_of_strategy(pulling, "balance leastconn", "balance roundrobin", "pulling"), 0);
}

static void a_prefill_engine_that_is_chosen_is_named_to_the_other(void **state)
{
	static const char set[] = "    http-request set-header x-prefiller-host-port "
	                          "%[var(txn.infer.prefill)] if { var(txn.infer.prefill) -m found "
	                          "}\n";
	static const char before[] = "    http-request set-header x-prefiller-host-port "
	                             "%[var(txn.infer.prefill)]\n"
	                             "    http-request del-header x-prefiller-host-port\n";
	static const char all[] = "    http-request set-header x-prefiller-host-port "
	                          "%[var(txn.infer.prefill)]\n"
	                          "    http-request del-header X-pre -m beg\n";

	(void)state;
	assert_int_equal(not_handed_over("pd", set, set), 0);
	assert_int_equal(not_handed_over("pd", set, ""), 1);
	assert_int_equal(not_handed_over("least-work", set, ""), 0);
	assert_int_equal(not_handed_over("pd", set, before), 1);
	assert_int_equal(not_handed_over("pd", set, all), 1);
	assert_int_equal(
	        not_handed_over("pd", "%[var(txn.infer.prefill)] if", "%[req.hdr(x-prefiller)] if"),
	        1);
}

static void a_rank_that_is_chosen_is_named_to_the_engine(void **state)
{
	static const char text[] =
	        "{\"instances\": {\"svc-a\": {\"replicas\": {\"a0\": {\"ranks\": "
	        "4}}}}}";
	struct policy_file *file = good(text);
	struct check_options options = { .version = "2.6.23", .ledger_ttl_s = 600 };
	static char base[FILE_MAX], edited[FILE_MAX];

	(void)state;
	options.policy = policy_file_policy(file);
	shipped(base);
	assert_int_equal(told(base, &options, "hand-over", ""), 0);
	replaced(base, "http-request set-header x-data-parallel-rank",
	         "http-request set-header x-dp", edited);
	assert_int_equal(told(edited, &options, "hand-over",
	                      "the policy has ranks, and no line sets "
	                      "x-data-parallel-rank from "
	                      "txn.infer.rank"),
	                 1);
	policy_file_free(file);
}

/* While the agent is silent HAProxy balances over whom it knows. */
static void servers_that_only_compute_prompts_are_backups(void **state)
{
	static const char text[] =
	        "{\"instances\": {\"svc-a\": {\"strategy\": \"pd\", \"replicas\": "
	        "{\"a0\": {\"role\": \"decode\"}, \"a*\": {\"role\": \"prefill\"}}}, "
	        "\"svc-b\": {\"replicas\": {\"*\": {\"role\": \"decode\"}}}}}";
	struct policy_file *file = good(text);
	struct check_options options = { .version = "2.6.23", .ledger_ttl_s = 600 };
	static char base[FILE_MAX], edited[FILE_MAX];

	(void)state;
	options.policy = policy_file_policy(file);
	shipped(base);
	assert_int_equal(told(base, &options, "prefill-backup", "server a0"), 0);
	assert_int_equal(told(base, &options, "prefill-backup", "server a1"), 1);
	replaced(base, "    server a1 ", "    server-template a 1-3 ", edited);
	assert_int_equal(told(edited, &options, "prefill-backup", "server a only"), 1);
	replaced(base, "    server a1 ", "    server a1 \"${INFER_A1}\" backup #", edited);
	assert_int_equal(told(edited, &options, "prefill-backup", "server a1"), 0);
	policy_file_free(file);
}

static void remove_files(void)
{
	static const char *const names[] = { "haproxy.cfg", "spoe.cfg", "spoe-3.cfg" };
	char path[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shipped_files_are_clean),
		cmocka_unit_test(each_rule_says_its_line_and_nothing_else),
		cmocka_unit_test(a_full_name_has_at_most_63_letters),
		cmocka_unit_test(arguments_and_lines_have_their_limits),
		cmocka_unit_test(a_comment_silences_a_rule),
		cmocka_unit_test(any_header_may_be_sent_of_a_request),
		cmocka_unit_test(a_socket_of_admins_beside_ours_is_left_alone),
		cmocka_unit_test(a_server_that_asks_well_is_left_alone),
		cmocka_unit_test(the_generated_agent_checks_are_clean),
		cmocka_unit_test(the_agents_port_is_known_when_it_is_told),
		cmocka_unit_test(an_unknown_version_is_walked_as_old_and_as_new),
		cmocka_unit_test(the_policy_has_its_say),
		cmocka_unit_test(sessions_need_their_headers),
		cmocka_unit_test(who_is_late_everywhere_waits_for_any_server),
		cmocka_unit_test(a_rank_that_is_chosen_is_named_to_the_engine),
		cmocka_unit_test(servers_that_only_compute_prompts_are_backups),
		cmocka_unit_test(a_prefill_engine_that_is_chosen_is_named_to_the_other),
	};
	const char *parent = getenv("TMPDIR");
	int failed;

	(void)unsetenv("INFER_SEED");
	(void)unsetenv("INFER_SPOP");
	(void)snprintf(folder, sizeof(folder), "%s/check_haproxy.XXXXXX",
	               parent ? parent : P_tmpdir);
	if (!mkdtemp(folder))
		return 1;
	(void)setenv("INFER_ETC", folder, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_files();
	return failed;
}
