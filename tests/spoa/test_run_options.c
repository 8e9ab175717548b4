/* test_run_options.c - flags, environment, defaults: which wins, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/command.h"
#include "spoa/run_options.h"

enum { ARGUMENTS_MAX = 32 };

static struct run_options options;
static char said[4096]; /* on stdout and stderr */

/* Reads "run" and the words up to NULL, with both streams in a file. What is read
 * points at the words: they live until the next. */
static int read_options(const char *first, ...)
{
	static char words[ARGUMENTS_MAX][64];
	char *argv[ARGUMENTS_MAX + 1] = { NULL };
	int argc = 0, left;
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	va_list rest;

	assert_true(file && out >= 0 && err >= 0);
	(void)snprintf(words[argc++], sizeof(words[0]), "run");
	va_start(rest, first);
	for (const char *word = first; word; word = va_arg(rest, const char *))
		(void)snprintf(words[argc++], sizeof(words[0]), "%s", word);
	va_end(rest);
	for (int i = 0; i < argc; i++)
		argv[i] = words[i];
	(void)fflush(NULL);
	(void)dup2(fileno(file), STDOUT_FILENO);
	(void)dup2(fileno(file), STDERR_FILENO);
	run_options_free(&options);
	left = run_options_read(argc, argv, &options);
	(void)fflush(NULL);
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(err, STDERR_FILENO);
	(void)close(out);
	(void)close(err);
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	(void)fclose(file);
	return left;
}

#define READ(...) read_options(__VA_ARGS__, NULL)

static int without_environment(void **state)
{
	(void)state;
	(void)unsetenv("INFERENCE_SPOA_HAPROXY");
	(void)unsetenv("INFERENCE_SPOA_LOG_LEVEL");
	(void)unsetenv("INFERENCE_SPOA_ADMIN");
	(void)unsetenv("INFERENCE_SPOA_SEED");
	(void)unsetenv("INFERENCE_SPOA_OBSERVE");
	(void)unsetenv("INFERENCE_SPOA_POLICY");
	(void)unsetenv("LISTEN_PID");
	run_options_free(&options);
	memset(&options, 0, sizeof(options));
	return 0;
}

static void without_arguments_all_is_the_default(void **state)
{
	(void)state;
	assert_int_equal(READ(NULL), -1);
	assert_null(options.policy);
	assert_int_equal(options.haproxy.count, 0);
	assert_int_equal(options.spop.count, 1);
	assert_string_equal(options.spop.at[0], "127.0.0.1:9000");
	assert_string_equal(options.log_listen.at[0], "127.0.0.1:9514");
	assert_string_equal(options.admin.at[0], "127.0.0.1:9901");
	assert_string_equal(options.log_level, "notice");
	assert_string_equal(options.log_format, "text");
	assert_string_equal(options.log_decisions, "off");
	assert_string_equal(options.on_bad_policy, "exit");
	assert_null(options.ready_file);
	assert_int_equal(options.seed, 0);
	assert_int_equal(options.socket_mode, 0660);
	assert_null(options.socket_group);
	assert_false(options.observe || options.no_scrape || options.watch_policy);
	assert_string_equal(said, "");
}

static void a_value_stands_behind_an_equals_sign_or_next(void **state)
{
	(void)state;
	assert_int_equal(READ("--policy", "a.json", "--seed=7", "--observe", "--no-scrape=false",
	                      "--log-decisions=100"),
	                 -1);
	assert_string_equal(options.policy, "a.json");
	assert_int_equal(options.seed, 7);
	assert_true(options.observe);
	assert_false(options.no_scrape);
	assert_string_equal(options.log_decisions, "100");
	assert_int_equal(READ("-c", "b.json"), -1);
	assert_string_equal(options.policy, "b.json");
}

static void a_list_grows_with_each_flag_and_takes_the_defaults_place(void **state)
{
	(void)state;
	assert_int_equal(READ("--haproxy", "/run/a", "--haproxy=/run/b", "--spop", "unix:/run/s"),
	                 -1);
	assert_int_equal(options.haproxy.count, 2);
	assert_string_equal(options.haproxy.at[0], "/run/a");
	assert_string_equal(options.haproxy.at[1], "/run/b");
	assert_int_equal(options.spop.count, 1);
	assert_string_equal(options.spop.at[0], "unix:/run/s");
}

static void a_flag_wins_over_the_environment_and_that_over_the_default(void **state)
{
	(void)state;
	(void)setenv("INFERENCE_SPOA_HAPROXY", "/run/a  /run/b", 1);
	(void)setenv("INFERENCE_SPOA_LOG_LEVEL", "debug", 1);
	(void)setenv("INFERENCE_SPOA_OBSERVE", "0", 1);
	assert_int_equal(READ(NULL), -1);
	assert_int_equal(options.haproxy.count, 2);
	assert_string_equal(options.haproxy.at[1], "/run/b");
	assert_string_equal(options.log_level, "debug");
	assert_false(options.observe);
	assert_int_equal(READ("--haproxy=/run/c", "--log-level=error"), -1);
	assert_int_equal(options.haproxy.count, 1);
	assert_string_equal(options.haproxy.at[0], "/run/c");
	assert_string_equal(options.log_level, "error");
}

static void an_empty_value_is_none(void **state)
{
	(void)state;
	assert_int_equal(READ("--admin="), -1);
	assert_int_equal(options.admin.count, 0);
	(void)setenv("INFERENCE_SPOA_ADMIN", "", 1);
	(void)setenv("INFERENCE_SPOA_LOG_LEVEL", "", 1);
	(void)setenv("INFERENCE_SPOA_POLICY", "", 1);
	(void)setenv("INFERENCE_SPOA_SEED", "", 1);
	assert_int_equal(READ(NULL), -1);
	assert_int_equal(options.admin.count, 0);
	assert_string_equal(options.log_level, "notice");
	assert_null(options.policy);
	assert_int_equal(options.seed, 0);
}

static void what_cannot_be_is_refused_and_named(void **state)
{
	static const struct {
		const char *argument, *named;
	} rows[] = {
		{ "stray", "stray: unexpected argument" },
		{ "-x", "-x: unexpected argument" },
		{ "", ": unexpected argument" },
		{ "--nonsense", "--nonsense: no such option" },
		{ "--pol=x", "--pol=x: no such option" },
		{ "--policy", "--policy: a value is missing" },
		{ "-c", "-c: a value is missing" },
		{ "--seed=", "--seed: expected a whole number" },
		{ "--seed=-1", "--seed: expected" },
		{ "--seed= -1", "--seed: expected" },
		{ "--seed=+1", "--seed: expected" },
		{ "--seed=1x", "--seed: expected" },
		{ "--socket-mode=0999", "--socket-mode: expected an octal mode" },
		{ "--socket-mode=1777", "--socket-mode: expected an octal mode" },
		{ "--socket-mode=0", "--socket-mode: expected an octal mode" },
		{ "--seed=18446744073709551616", "--seed: expected" },
		{ "--on-bad-policy=ignore", "--on-bad-policy: expected exit or defaults" },
		{ "--log-level=loud", "--log-level: expected error, warning" },
		{ "--log-format=xml", "--log-format: expected text or json" },
		{ "--log-decisions=0", "--log-decisions: expected" },
		{ "--log-decisions=-1", "--log-decisions: expected" },
		{ "--log-decisions=1000001", "--log-decisions: expected" },
		{ "--log-decisions=5x", "--log-decisions: expected" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run_options_free(&options);
		memset(&options, 0, sizeof(options));
		assert_int_equal(READ(rows[i].argument), EXIT_USAGE);
		assert_non_null(strstr(said, rows[i].named));
		assert_null(options.log_level); /* untouched */
	}
}

static void the_largest_values_are_taken(void **state)
{
	(void)state;
	assert_int_equal(READ("--seed=18446744073709551615", "--log-decisions=1000000",
	                      "--log-format=json", "--on-bad-policy=defaults"),
	                 -1);
	assert_true(options.seed == UINT64_MAX);
}

static void lists_have_an_end(void **state)
{
	(void)state;
	assert_int_equal(READ("--spop=a", "--spop=b", "--spop=c", "--spop=d", "--spop=e",
	                      "--spop=f", "--spop=g", "--spop=h"),
	                 -1);
	assert_int_equal(options.spop.count, 8);
	assert_int_equal(READ("--spop=a", "--spop=b", "--spop=c", "--spop=d", "--spop=e",
	                      "--spop=f", "--spop=g", "--spop=h", "--spop=i"),
	                 EXIT_USAGE);
	assert_non_null(strstr(said, "--spop: more than 8"));
	assert_int_equal(READ("--haproxy=a", "--haproxy=b", "--haproxy=c", "--haproxy=d"), -1);
	assert_int_equal(
	        READ("--haproxy=a", "--haproxy=b", "--haproxy=c", "--haproxy=d", "--haproxy=e"),
	        EXIT_USAGE);
	assert_non_null(strstr(said, "--haproxy: more than 4"));
}

static void a_bad_value_of_the_environment_is_a_mistake_too(void **state)
{
	(void)state;
	(void)setenv("INFERENCE_SPOA_SEED", "many", 1);
	assert_int_equal(READ(NULL), EXIT_USAGE);
	assert_non_null(strstr(said, "--seed: expected a whole number"));
}

static void help_names_every_flag_and_ends(void **state)
{
	(void)state;
	assert_int_equal(READ("--observe", "--help"), EXIT_OK);
	assert_non_null(strstr(said, "--haproxy ADDRESS"));
	assert_non_null(strstr(said, "(default 127.0.0.1:9000)"));
	assert_non_null(strstr(said, "INFERENCE_SPOA_POLICY"));
	assert_int_equal(READ("-h"), EXIT_OK);
}

static void hand_over(const char *count, const char *names)
{
	char self[16];

	(void)snprintf(self, sizeof(self), "%d", (int)getpid());
	assert_int_equal(setenv("LISTEN_PID", self, 1), 0);
	assert_int_equal(setenv("LISTEN_FDS", count, 1), 0);
	assert_int_equal(setenv("LISTEN_FDNAMES", names, 1), 0);
}

/* R018 */
static void inherited_sockets_take_the_defaults_place(void **state)
{
	(void)state;
	hand_over("4", "spop:log:spop:log");
	assert_int_equal(READ("--spop", "unix:/run/more"), -1);
	assert_int_equal(options.spop.count, 3);
	assert_string_equal(options.spop.at[0], "fd@3");
	assert_string_equal(options.spop.at[1], "fd@5");
	assert_string_equal(options.spop.at[2], "unix:/run/more");
	assert_int_equal(options.log_listen.count, 2);
	assert_string_equal(options.log_listen.at[0], "fd@4");
	assert_string_equal(options.log_listen.at[1], "fd@6");
	assert_int_equal(options.admin.count, 1);
	assert_string_equal(options.admin.at[0], "127.0.0.1:9901");
	assert_int_equal(setenv("INFERENCE_SPOA_ADMIN", "127.0.0.1:1", 1), 0);
	hand_over("1", "admin");
	assert_int_equal(READ(NULL), -1);
	assert_int_equal(options.admin.count, 2);
	assert_string_equal(options.admin.at[0], "fd@3");
	assert_string_equal(options.admin.at[1], "127.0.0.1:1");
	assert_string_equal(options.spop.at[0], "127.0.0.1:9000");
}

static void an_inherited_socket_of_no_known_name_is_refused(void **state)
{
	(void)state;
	hand_over("2", "spop:inference-spoa.socket");
	assert_int_equal(READ(NULL), EXIT_USAGE);
	assert_non_null(strstr(said, "fd@4 is named \"inference-spoa.socket\""));
	hand_over("9", "spop:spop:spop:spop:spop:spop:spop:spop:spop");
	assert_int_equal(READ(NULL), EXIT_USAGE);
	assert_non_null(strstr(said, "fd@11"));
	hand_over("17", "spop");
	assert_int_equal(READ(NULL), EXIT_USAGE);
}

#define TEST(name) cmocka_unit_test_setup(name, without_environment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_arguments_all_is_the_default),
		TEST(a_value_stands_behind_an_equals_sign_or_next),
		TEST(a_list_grows_with_each_flag_and_takes_the_defaults_place),
		TEST(a_flag_wins_over_the_environment_and_that_over_the_default),
		TEST(an_empty_value_is_none),
		TEST(what_cannot_be_is_refused_and_named),
		TEST(the_largest_values_are_taken),
		TEST(lists_have_an_end),
		TEST(a_bad_value_of_the_environment_is_a_mistake_too),
		TEST(help_names_every_flag_and_ends),
		TEST(inherited_sockets_take_the_defaults_place),
		TEST(an_inherited_socket_of_no_known_name_is_refused),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	run_options_free(&options);
	return failed;
}
