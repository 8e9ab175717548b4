/* test_generate.c - what is checked in is what the generator prints, and keeps
 * HAProxy's limits. Proves B002, B004, R017, P031, P033, P041, P050, P119, P120. */
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

/* The tree, from the place of this file. */
static char *file_of_tree(const char *path)
{
	char name[4096];
	size_t root = strlen(__FILE__) - strlen("tests/spoa/config/test_generate.c");
	char *text = calloc(1, 1 << 16);
	FILE *file;

	(void)snprintf(name, sizeof(name), "%.*s%s", (int)root, __FILE__, path);
	file = fopen(name, "r");
	assert_non_null(file);
	assert_non_null(text);
	(void)fread(text, 1, (1 << 16) - 1, file);
	(void)fclose(file);
	return text;
}

enum what { CONFIG, ROUTING, SPOE, LOG_FORMAT, WIRE, INGRESS, INGRESS_SERVICE };

static char *printed(enum what what, const struct generate *generate)
{
	struct error error = { "" };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	switch (what) {
	case CONFIG:
		generate_config(generate, out);
		break;
	case ROUTING:
		generate_routing(generate, out);
		break;
	case SPOE:
		assert_true(generate_spoe(generate, out, &error));
		break;
	case LOG_FORMAT:
		generate_log_format(out);
		break;
	case WIRE:
		generate_wire(out);
		break;
	case INGRESS:
		assert_true(generate_ingress(generate, out, &error));
		break;
	case INGRESS_SERVICE:
		assert_true(generate_ingress_service(generate, out, &error));
		break;
	}
	(void)fclose(out);
	return text;
}

static struct generate wanted(unsigned version, enum generate_topology topology)
{
	struct generate generate;

	generate_init(&generate);
	generate.version = version;
	generate.topology = topology;
	return generate;
}

static void assert_same(const char *path, enum what what, unsigned version,
                        enum generate_topology topology)
{
	struct generate generate = wanted(version, topology);
	char *shipped = file_of_tree(path);
	char *text = printed(what, &generate);

	assert_string_equal(text, shipped);
	free(text);
	free(shipped);
}

static void shipped_files_are_what_is_printed(void **state)
{
	(void)state;
	assert_same("haproxy/spoe.cfg", SPOE, 0, GENERATE_COMBINED);
	assert_same("haproxy/spoe.cfg", SPOE, 206, GENERATE_COMBINED);
	assert_same("haproxy/spoe-3.cfg", SPOE, 300, GENERATE_COMBINED);
	assert_same("haproxy/spoe-3.cfg", SPOE, 302, GENERATE_UPPER);
	assert_same("haproxy/haproxy.cfg", CONFIG, 0, GENERATE_COMBINED);
	assert_same("haproxy/routing.cfg", ROUTING, 0, GENERATE_COMBINED);
	assert_same("haproxy/split/upper.cfg", CONFIG, 0, GENERATE_UPPER);
	assert_same("haproxy/split/lower.cfg", CONFIG, 0, GENERATE_LOWER);
	assert_same("docs/wire.md", WIRE, 0, GENERATE_COMBINED);
	assert_same("helm/inference-spoa/examples/kubernetes-ingress-values.yaml", INGRESS, 302,
	            GENERATE_COMBINED);
	assert_same("helm/inference-spoa/examples/service-annotations.yaml", INGRESS_SERVICE, 0,
	            GENERATE_COMBINED);
	assert_same("helm/inference-spoa/files/spoe.cfg", SPOE, 206, GENERATE_COMBINED);
	assert_same("helm/inference-spoa/files/spoe-3.cfg", SPOE, 302, GENERATE_COMBINED);
}

static void the_log_format_holds_what_delays_it(void **state)
{
	struct generate generate = wanted(0, GENERATE_COMBINED);
	char *format = printed(LOG_FORMAT, &generate);
	char *config = printed(CONFIG, &generate);
	char line[2048];

	(void)state;
	assert_memory_equal(format, "\"infer v=1 ev=end id=%ID ", 25);
	assert_non_null(strstr(format, " B=%B sq=%sq bq=%bq f1=%[var(txn.infer_f1)]\""));
	assert_non_null(strstr(format, " addr=%si:%sp st=%ST ts=%tsc rc=%rc "));
	assert_true(snprintf(line, sizeof(line), "    log-format %s\n", format) < 2048);
	assert_non_null(strstr(config, line));
	free(config);
	free(format);
}

/* Words as HAProxy counts them, leading blanks left out. */
static unsigned words_of(const char *line, size_t length)
{
	unsigned words = 0;
	char quote = '\0';
	bool inside = false;

	for (size_t i = 0; i < length; i++) {
		if (quote)
			quote = line[i] == quote ? '\0' : quote;
		else if (line[i] == '\'' || line[i] == '"')
			quote = line[i];
		if (line[i] == ' ' && !quote) {
			inside = false;
		} else if (!inside) {
			inside = true;
			words++;
		}
	}
	return words;
}

static void assert_lines_fit(const char *text)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		assert_true(length < GENERATE_LINE_MAX);
		if (*text != '#')
			assert_true(words_of(text, length) <= GENERATE_WORDS_MAX);
		text += length + (text[length] == '\n');
	}
}

static void every_line_fits_in_every_version(void **state)
{
	static const unsigned versions[] = { 0, 206, 300, 302 };

	(void)state;
	for (unsigned i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		for (unsigned topology = GENERATE_COMBINED; topology <= GENERATE_LOWER;
		     topology++) {
			struct generate generate =
			        wanted(versions[i], (enum generate_topology)topology);
			char *spoe = printed(SPOE, &generate);
			char *config = printed(CONFIG, &generate);

			assert_lines_fit(spoe);
			assert_lines_fit(config);
			free(config);
			free(spoe);
		}
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned count = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		count++;
	return count;
}

static void another_ladder_changes_blocks_and_id_together(void **state)
{
	struct generate generate = wanted(206, GENERATE_COMBINED);
	struct error error = { "" };
	char *spoe;

	(void)state;
	assert_true(ladder_parse((struct span){ "2x512,1x64k", 11 }, &generate.ladder, &error));
	spoe = printed(SPOE, &generate);
	assert_non_null(strstr(spoe, "'lid=str(\"2x512,1x64k\")'"));
	assert_non_null(strstr(spoe, " h0=var(txn.infer_p),bytes(0,512),xxh64(0) "));
	assert_non_null(strstr(spoe, " h2=var(txn.infer_p),bytes(1024,65536),xxh64(0)\n"));
	assert_int_equal(count_of(spoe, "xxh64(0)"), 3);
	free(spoe);
}

/* Of what is asked: a body leaves HAProxy only as its length or as a hash. */
static void no_prompt_leaves_haproxy(void **state)
{
	const unsigned versions[] = { 206, 300 };

	(void)state;
	for (size_t v = 0; v < 2; v++) {
		struct generate generate = wanted(versions[v], GENERATE_COMBINED);
		char *spoe = printed(SPOE, &generate), *rest = spoe, *word;
		size_t hashed = 0;

		while ((word = strsep(&rest, " \n"))) {
			const char *of = strchr(word, '=');
			size_t len = strlen(word);

			if (!of || (!strstr(of, "body") && !strstr(of, "infer_p)")))
				continue;
			if (strcmp(of, "=req.body_len") == 0 || strcmp(of, "=req.body_size") == 0)
				continue;
			assert_true(len > 9 && strcmp(word + len - 9, ",xxh64(0)") == 0);
			hashed++;
		}
		assert_int_equal(hashed, 32);
		free(spoe);
	}
}

/* The access log of a routed request says who served, why, and how soon. */
static void the_end_line_carries_the_decision_and_the_first_byte(void **state)
{
	const char *const fields[] = {
		" in=%[var(txn.infer.instance)] ", " re=%[var(txn.infer.replica)] ",
		" ac=%[var(txn.infer.action)] ",   " why=%[var(txn.infer.reason)] ",
		" t0=%[var(txn.infer_t0)] ",       " t1=%[var(txn.infer_t1)] "
	};
	struct generate generate = wanted(0, GENERATE_COMBINED);
	char *config = printed(CONFIG, &generate);

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		assert_int_equal(count_of(config, fields[i]), 1);
	free(config);
}

static void only_one_form_is_printed_for_a_version(void **state)
{
	struct generate old = wanted(206, GENERATE_COMBINED);
	struct generate new = wanted(300, GENERATE_COMBINED);
	char *old_config = printed(CONFIG, &old), *new_config = printed(CONFIG, &new);
	char *new_spoe = printed(SPOE, &new);

	(void)state;
	assert_null(strstr(old_config, "infer_o0"));
	assert_non_null(strstr(old_config, "/spoe.cfg\""));
	assert_non_null(strstr(old_config, "http-request unset-var(txn.infer_p)\n"));
	assert_null(strstr(new_config, "infer_p)"));
	assert_non_null(strstr(new_config, "/spoe-3.cfg\""));
	assert_null(strstr(new_config, "version_atleast"));
	assert_null(strstr(old_config, "txn.infer_f1) \"")); /* it loses requests there */
	assert_int_equal(count_of(new_config, "set-var-fmt(txn.infer_f1) \""), 2);
	assert_null(strstr(new_spoe, "infer_p)"));
	assert_int_equal(count_of(new_spoe, "=req.body,bytes(txn.infer_o0),bytes("), 32);
	free(new_spoe);
	free(new_config);
	free(old_config);
}

static void a_named_regex_leaves_no_question(void **state)
{
	struct generate generate = wanted(206, GENERATE_COMBINED);
	char *config;

	(void)state;
	generate.regex = GENERATE_REGEX_POSIX;
	config = printed(CONFIG, &generate);
	assert_null(strstr(config, "    .if"));
	assert_null(strstr(config, "\\x22"));
	assert_non_null(strstr(config, "[[:punct:]](messages|prompt|input)[[:punct:]]"));
	free(config);
	generate.regex = GENERATE_REGEX_PCRE;
	config = printed(CONFIG, &generate);
	assert_null(strstr(config, "    .if"));
	assert_null(strstr(config, "[[:punct:]]"));
	free(config);
}

static void a_split_changes_what_it_must(void **state)
{
	struct generate upper = wanted(0, GENERATE_UPPER), lower = wanted(0, GENERATE_LOWER);
	char *above = printed(CONFIG, &upper), *below = printed(CONFIG, &lower);

	(void)state;
	assert_null(strstr(above, "use-server"));
	assert_non_null(strstr(above, "    option httpchk GET /infer-health\n"));
	assert_non_null(strstr(below, "    http-request set-var(txn.infer_be) str(svc-a)"));
	assert_true(strstr(below, "set-var(txn.infer_be)") < strstr(below, "send-spoe-group"));
	assert_non_null(strstr(below, "    monitor-uri /infer-health"));
	assert_null(strstr(below, "svc-b"));
	free(below);
	free(above);
}

/* Each server asks by the names that HAProxy knows it by, at one place. */
static void servers_ask_for_their_weight_where_they_are_told_to(void **state)
{
	static const char *const refused[] = {
		"",        "9902", ":9902",   "a:",     "a:0",  "a:b",    "a:65536",      "a b:1",
		"::1:990", "[]:1", "a:9902x", "a\"b:1", "a:-1", "a:+990", "a:0000000001", "[::1]"
	};
	struct generate combined = wanted(0, GENERATE_COMBINED), own = wanted(300, GENERATE_LOWER),
	                upper = wanted(0, GENERATE_UPPER);
	struct error error = { "" };
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(generate_agent_check(&own, refused[i], &error));
	assert_null(own.agent_check);
	text = printed(CONFIG, &combined);
	assert_null(strstr(text, "agent-check"));
	free(text);
	assert_true(generate_agent_check(&combined, "127.0.0.1:9902", &error));
	text = printed(CONFIG, &combined);
	assert_non_null(strstr(text, "haproxy config --agent-check 127.0.0.1:9902\"."));
	assert_int_equal(count_of(text, " maxqueue 32 pool-purge-delay 2s agent-addr 127.0.0.1 "
	                                "agent-port 9902 agent-inter 2s\n"),
	                 2);
	assert_non_null(strstr(text, "server b1 \"${INFER_B1}\" agent-check agent-send "
	                             "\"svc-b/b1\\n\"\n"));
	assert_int_equal(count_of(text, " agent-check agent-send "), 5);
	free(text);
	assert_true(generate_agent_check(&own, "[::1]:1", &error));
	assert_true(generate_instance(&own, "be=10.0.0.1:80,10.0.0.2:80", &error));
	text = printed(CONFIG, &own);
	assert_non_null(strstr(text, " agent-addr ::1 agent-port 1 agent-inter 2s\n"));
	assert_non_null(strstr(text, "server r1 10.0.0.2:80 agent-check agent-send "
	                             "\"be/r1\\n\"\n"));
	free(text);
	assert_true(generate_agent_check(&upper, "agent.local:65535", &error));
	text = printed(CONFIG, &upper);
	assert_non_null(strstr(text, "delay 2s agent-addr agent.local agent-port 65535 "));
	assert_non_null(strstr(text, " agent-check agent-send \"svc-b/low0\\n\"\n"));
	free(text);
}

/* Root starts it, and somebody else serves. */
static void haproxy_serves_as_who_it_is_told_to(void **state)
{
	static const char *const refused[] = {
		"", "0", "-a", "a b", "a\n", "Root", "a\"", "a23456789b123456789c123456789d123"
	};
	struct generate generate = wanted(0, GENERATE_COMBINED);
	struct error error = { "" };
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(generate_user(&generate, refused[i], &error));
	assert_null(generate.user);
	text = printed(CONFIG, &generate);
	assert_null(strstr(text, "    user "));
	free(text);
	assert_true(generate_user(&generate, "a23456789b123456789c123456789d12", &error));
	assert_true(generate_user(&generate, "haproxy", &error));
	text = printed(CONFIG, &generate);
	assert_non_null(strstr(text, "haproxy config --user haproxy\"."));
	assert_non_null(strstr(text, "\n    user haproxy\n    group haproxy\n    maxconn"));
	free(text);
}

/* Behind the header and the body, before the question; the first that is there counts. */
static void a_session_may_be_named_by_a_key_of_the_body(void **state)
{
	static const char *const refused[] = {
		"", ".", ".a", "a.", "a b", "a'", "a)", "$.a", "a[0]"
	};
	struct generate generate = wanted(0, GENERATE_COMBINED);
	struct error error = { "" };
	const char *header, *first, *second;
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(generate_session_key(&generate, refused[i], &error));
	assert_true(generate_session_key(&generate, "prompt_cache_key", &error));
	assert_true(generate_session_key(&generate, "metadata.user_id", &error));
	text = printed(CONFIG, &generate);
	header = strstr(text, "set-var(txn.infer_s0) req.fhdr(x-infer-session)\n");
	first = strstr(text, "set-var(txn.infer_s0) req.body,json_query('$.prompt_cache_key') if "
	                     "infer_post infer_path infer_json !infer_enc !{ var(txn.infer_s0) -m "
	                     "found }\n");
	second = strstr(text, "json_query('$.metadata.user_id') if infer_post");
	assert_non_null(header);
	assert_non_null(first);
	assert_non_null(second);
	assert_true(header < first && first < second);
	assert_true(strstr(text, "wait-for-body time 30s") < first);
	assert_true(second < strstr(text, "send-spoe-group infer infer-route"));
	free(text);
	assert_true(generate_session_key(&generate, "user", &error));
	assert_true(generate_session_key(&generate, "conversation", &error));
	assert_false(generate_session_key(&generate, "fifth", &error));
}

static void versions_are_read(void **state)
{
	struct error error = { "" };
	unsigned version = 7;
	static const char *const wrong[] = { "", "3", "x", "3.", "2.5", "3.x", "100.0", "3.0 " };

	(void)state;
	assert_true(generate_version("any", &version, &error));
	assert_int_equal(version, 0);
	assert_true(generate_version("2.6", &version, &error));
	assert_int_equal(version, 206);
	assert_true(generate_version("3.0.11", &version, &error));
	assert_int_equal(version, 300);
	assert_false(generate_head_form(299));
	assert_true(generate_head_form(300));
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		error.text[0] = '\0';
		assert_false(generate_version(wrong[i], &version, &error));
		assert_int_not_equal(error.text[0], '\0');
	}
	assert_int_equal(version, 300);
}

static void every_variable_is_registered(void **state)
{
	struct generate generate = wanted(0, GENERATE_COMBINED);
	char *spoe = printed(SPOE, &generate);
	char *names = strstr(spoe, "    register-var-names ");
	char line[1024];

	(void)state;
	assert_non_null(names);
	(void)snprintf(line, sizeof(line), "%.*s ", (int)strcspn(names, "\n"), names);
#define REGISTERED(id, name, type, help) assert_non_null(strstr(line, " " name " "));
	VARIABLES(REGISTERED)
#undef REGISTERED
	assert_non_null(strstr(spoe, "    no option   send-frag-payload\n"));
	free(spoe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped_files_are_what_is_printed),
		cmocka_unit_test(the_log_format_holds_what_delays_it),
		cmocka_unit_test(every_line_fits_in_every_version),
		cmocka_unit_test(another_ladder_changes_blocks_and_id_together),
		cmocka_unit_test(no_prompt_leaves_haproxy),
		cmocka_unit_test(the_end_line_carries_the_decision_and_the_first_byte),
		cmocka_unit_test(only_one_form_is_printed_for_a_version),
		cmocka_unit_test(a_named_regex_leaves_no_question),
		cmocka_unit_test(a_split_changes_what_it_must),
		cmocka_unit_test(servers_ask_for_their_weight_where_they_are_told_to),
		cmocka_unit_test(haproxy_serves_as_who_it_is_told_to),
		cmocka_unit_test(a_session_may_be_named_by_a_key_of_the_body),
		cmocka_unit_test(versions_are_read),
		cmocka_unit_test(every_variable_is_registered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
