/* run_options.c - flags, environment and defaults of `inference-spoa run`. */
#include "spoa/run_options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/url.h"
#include "spoa/command.h"
#include "spoa/inherited.h"
#include "spoa/journal.h"

enum { ONE_IN_MAX = 1000000 };

enum flag_type { FLAG_TEXT, FLAG_LIST, FLAG_NUMBER, FLAG_MODE, FLAG_SWITCH };

struct flag {
	const char *name;
	const char *argument;
	const char *otherwise; /* default; a list's parts are separated by spaces */
	const char *help;
	size_t offset;
	enum flag_type type;
};

#define AT(field) offsetof(struct run_options, field)

static const struct flag flags[] = {
	{ "policy", "FILE", NULL, "policy; without one the embedded default routes by least-work",
	  AT(policy), FLAG_TEXT },
	{ "watch-policy", NULL, NULL,
	  "look each second whether the policy's file is another, and read it then: for mounted "
	  "ConfigMaps",
	  AT(watch_policy), FLAG_SWITCH },
	{ "haproxy", "ADDRESS", NULL,
	  "HAProxy's runtime socket, a path or HOST:PORT; repeat for several processes",
	  AT(haproxy), FLAG_LIST },
	{ "spop", "ADDRESS", "127.0.0.1:9000",
	  "where HAProxy asks: HOST:PORT or unix:PATH; repeatable", AT(spop), FLAG_LIST },
	{ "log-listen", "ADDRESS", "127.0.0.1:9514",
	  "where HAProxy's end lines come in: HOST:PORT (UDP and TCP), udp:, tcp:, unix-dgram:PATH",
	  AT(log_listen), FLAG_LIST },
	{ "admin", "ADDRESS", "127.0.0.1:9901",
	  "metrics, state and /v1/models: HOST:PORT or unix:PATH", AT(admin), FLAG_LIST },
	{ "agent-check", "ADDRESS", NULL,
	  "answer HAProxy's agent-check with weight and maxconn of its servers: HOST:PORT; "
	  "repeatable",
	  AT(agent_check), FLAG_LIST },
	{ "redis", "URL", NULL,
	  "Redis or Valkey by which agents share what they know: "
	  "redis://[USER:PASSWORD@]HOST:PORT/DB, "
	  "rediss://, unix:///PATH, redis+sentinel://HOST:PORT,HOST:PORT/NAME/DB; wins over the "
	  "policy's redis.url, whose other settings hold",
	  AT(redis), FLAG_TEXT },
	{ "skip-backend", "NAME", NULL, "a backend that is no instance; repeatable", AT(skip),
	  FLAG_LIST },
	{ "only-backend", "NAME,NAME*,...", NULL,
	  "backends that are instances, and no others; NAME* is all that begin so; repeatable",
	  AT(keep), FLAG_LIST },
	{ "observe", NULL, NULL, "decide and log, but let HAProxy choose", AT(observe),
	  FLAG_SWITCH },
	{ "socket-mode", "MODE", "0660", "of the unix sockets that HAProxy asks at, in octal",
	  AT(socket_mode), FLAG_MODE },
	{ "socket-user", "NAME", NULL, "who owns them", AT(socket_user), FLAG_TEXT },
	{ "socket-group", "NAME", NULL,
	  "their group: HAProxy's own, since it keeps no supplementary groups", AT(socket_group),
	  FLAG_TEXT },
	{ "engine-profiles", "DIRECTORY", NULL,
	  "profiles of engines (*.json) beside those of the program, or instead of one of the same "
	  "name",
	  AT(engine_profiles), FLAG_TEXT },
	{ "no-scrape", NULL, NULL, "do not read the engines' metric pages", AT(no_scrape),
	  FLAG_SWITCH },
	{ "on-bad-policy", "exit|defaults", "exit", "what a bad policy does at start",
	  AT(on_bad_policy), FLAG_TEXT },
	{ "log-level", "LEVEL", "notice", "error, warning, notice, info or debug", AT(log_level),
	  FLAG_TEXT },
	{ "log-format", "text|json", "text", "how the agent's own log reads", AT(log_format),
	  FLAG_TEXT },
	{ "log-decisions", "off|all|N", "off",
	  "decisions to stdout as JSON lines: none, all, one in N", AT(log_decisions), FLAG_TEXT },
	{ "ready-file", "PATH", NULL, "written once all addresses listen", AT(ready_file),
	  FLAG_TEXT },
	{ "seed", "N", "0", "of every draw, for repeatable runs; 0 draws one", AT(seed),
	  FLAG_NUMBER },
};

enum { FLAG_COUNT = sizeof(flags) / sizeof(flags[0]) };

/* Which list an inherited socket of this name joins. */
static const struct handed {
	const char *name;
	size_t offset;
} handed[] = {
	{ "spop", AT(spop) },
	{ "log", AT(log_listen) },
	{ "admin", AT(admin) },
};

static void print_help(void)
{
	(void)printf(
	        "usage: inference-spoa run [options]\n\nRuns the agent in the foreground. SIGHUP "
	        "reads the policy and the profiles of engines again, SIGTERM ends it.\n\n");
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		(void)printf("  --%s%s%s\n        %s", flags[i].name, flags[i].argument ? " " : "",
		             flags[i].argument ? flags[i].argument : "", flags[i].help);
		if (flags[i].otherwise)
			(void)printf(" (default %s)", flags[i].otherwise);
		(void)printf("\n");
	}
	(void)printf(
	        "\nEach is also read from the environment, as INFERENCE_SPOA_POLICY and so on; a "
	        "flag wins.\n\nSockets that a service manager holds (systemd: "
	        "FileDescriptorName=spop, "
	        "log or admin) take\nthe place of a list's default; fd@N names one by number. With "
	        "Type=notify it is told when all\nlisten, on reloads, and with WatchdogSec= that "
	        "the loop runs.\n");
}

static int mistaken(const char *flag, const char *problem)
{
	(void)fprintf(stderr, "inference-spoa run: %s: %s; see inference-spoa run --help\n", flag,
	              problem);
	return EXIT_USAGE;
}

static int mistaken_flag(const struct flag *flag, const char *problem)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "--%s", flag->name);
	return mistaken(name, problem);
}

static int store_number(void *field, const struct flag *flag, const char *value)
{
	char *end = NULL;
	unsigned long long number;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (errno || *value < '0' || *value > '9' || *end)
		return mistaken_flag(flag, "expected a whole number");
	*(uint64_t *)field = number;
	return -1;
}

static int store_mode(void *field, const struct flag *flag, const char *value)
{
	char *end = NULL;
	unsigned long mode = strtoul(value, &end, 8);

	if (*value < '0' || *value > '7' || *end || mode == 0 || mode > 0777)
		return mistaken_flag(flag, "expected an octal mode such as 0660");
	*(uint32_t *)field = (uint32_t)mode;
	return -1;
}

static int store(struct run_options *options, const struct flag *flag, const char *value)
{
	void *field = (char *)options + flag->offset;
	struct addresses *list = field;

	switch (flag->type) {
	case FLAG_TEXT:
		*(const char **)field = value;
		return -1;
	case FLAG_LIST:
		if (!*value)
			return -1;
		if (list->count == LISTEN_MAX)
			return mistaken_flag(flag, "more than 8 of them");
		list->at[list->count++] = value;
		return -1;
	case FLAG_NUMBER:
		return store_number(field, flag, value);
	case FLAG_MODE:
		return store_mode(field, flag, value);
	case FLAG_SWITCH:
		*(bool *)field = strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
		return -1;
	}
	return -1;
}

/* Values from the environment or the table; a list is split at its spaces, in a
 * copy that lives as long as the options. */
static int store_words(struct run_options *options, const struct flag *flag, const char *value)
{
	char *rest = NULL;
	char *copy;

	if (flag->type != FLAG_LIST || !*value)
		return store(options, flag, value);
	copy = strdup(value);
	if (!copy)
		return EXIT_FAILED;
	options->words[options->word_count++] = copy;
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		int left = store(options, flag, word);

		if (left >= 0)
			return left;
	}
	return -1;
}

static int fill_in(struct run_options *options, const struct flag *flag)
{
	char variable[64] = "INFERENCE_SPOA_";
	size_t at = strlen(variable);
	const char *value;

	for (const char *name = flag->name; *name && at + 1 < sizeof(variable); name++)
		variable[at++] =
		        *name == '-' ? '_' : (char)(*name - ('a' <= *name && *name <= 'z') * 32);
	value = getenv(variable);
	if (!value || (!*value && flag->type != FLAG_LIST))
		value = flag->otherwise;
	if (value == flag->otherwise && flag->type == FLAG_LIST &&
	    ((struct addresses *)((char *)options + flag->offset))->count > 0)
		return -1; /* inherited sockets take its place */
	return value ? store_words(options, flag, value) : -1;
}

static const struct flag *flag_named(const char *name, size_t length)
{
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		if (strlen(flags[i].name) == length && strncmp(flags[i].name, name, length) == 0)
			return &flags[i];
	}
	return NULL;
}

/* Reads the flag at argv[*at], and its value, which may stand behind = or next. */
static int read_flag(int argc, char **argv, int *at, struct run_options *options, bool *given)
{
	const char *word = argv[*at];
	bool is_short = strcmp(word, "-c") == 0;
	const char *name = "policy";
	const char *equals;
	const struct flag *flag;

	if (!is_short && strncmp(word, "--", 2) != 0)
		return mistaken(word, "unexpected argument");
	if (!is_short)
		name = word + 2;
	equals = strchr(name, '=');
	flag = flag_named(name, equals ? (size_t)(equals - name) : strlen(name));
	if (!flag)
		return mistaken(word, "no such option");
	given[flag - flags] = true;
	if (flag->type == FLAG_SWITCH)
		return store(options, flag, equals ? equals + 1 : "1");
	if (equals)
		return store(options, flag, equals + 1);
	if (*at + 1 == argc)
		return mistaken(word, "a value is missing");
	return store(options, flag, argv[++*at]);
}

static bool is_one_in(const char *text)
{
	char *end = NULL;
	unsigned long every = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && every >= 1 && every <= ONE_IN_MAX;
}

static int mistake_in_url(const char *text)
{
	struct error error = { "" };
	struct redis_url url;

	return !text || redis_url_read(text, &url, &error) ? -1 : mistaken("--redis", error.text);
}

/* What a flag's type does not tell. */
static int mistake_in(const struct run_options *options)
{
	if (strcmp(options->on_bad_policy, "exit") != 0 &&
	    strcmp(options->on_bad_policy, "defaults") != 0)
		return mistaken("--on-bad-policy", "expected exit or defaults");
	if (journal_level_named(options->log_level) < 0)
		return mistaken("--log-level", "expected error, warning, notice, info or debug");
	if (strcmp(options->log_format, "text") != 0 && strcmp(options->log_format, "json") != 0)
		return mistaken("--log-format", "expected text or json");
	if (strcmp(options->log_decisions, "off") != 0 &&
	    strcmp(options->log_decisions, "all") != 0 && !is_one_in(options->log_decisions))
		return mistaken("--log-decisions", "expected off, all or N, for one in N");
	if (options->haproxy.count > SOURCES_MAX)
		return mistaken("--haproxy", "more than 4 of them");
	return mistake_in_url(options->redis);
}

static struct addresses *list_of(struct run_options *options, const char *socket)
{
	for (size_t i = 0; i < sizeof(handed) / sizeof(handed[0]); i++) {
		if (strcmp(handed[i].name, socket) == 0)
			return (struct addresses *)((char *)options + handed[i].offset);
	}
	return NULL;
}

/* Each becomes an address "fd@N", in front of those that flags name. */
static int take_inherited(struct run_options *options)
{
	struct inherited inherited;
	struct error error = { "" };

	if (!inherited_read(&inherited, &error))
		return mistaken("inherited sockets", error.text);
	for (uint32_t i = 0; i < inherited.count; i++) {
		struct addresses *list = list_of(options, inherited.names[i]);
		char text[INHERITED_NAME_MAX + 64];
		char *word;

		(void)snprintf(text, sizeof(text), "fd@%u", INHERITED_FIRST + i);
		word = list && list->count < LISTEN_MAX ? strdup(text) : NULL;
		if (!word) {
			(void)snprintf(text, sizeof(text), "fd@%u is named \"%s\"",
			               INHERITED_FIRST + i, inherited.names[i]);
			return mistaken(text, "expected spop, log or admin, at most 8 of each");
		}
		options->words[options->word_count++] = word;
		list->at[list->count++] = word;
	}
	return -1;
}

static int read_all(int argc, char **argv, struct run_options *options)
{
	bool given[FLAG_COUNT] = { false };
	int left = take_inherited(options);

	if (left >= 0)
		return left;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_help();
			return EXIT_OK;
		}
		left = read_flag(argc, argv, &i, options, given);
		if (left >= 0)
			return left;
	}
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		left = given[i] ? -1 : fill_in(options, &flags[i]);
		if (left >= 0)
			return left;
	}
	left = mistake_in(options);
	if (left >= 0)
		return left;
	return -1;
}

void run_options_free(struct run_options *options)
{
	for (uint32_t i = 0; i < options->word_count; i++)
		free(options->words[i]);
	options->word_count = 0;
}

int run_options_read(int argc, char **argv, struct run_options *ret_options)
{
	struct run_options options = { 0 };
	int left = read_all(argc, argv, &options);

	if (left >= 0)
		run_options_free(&options);
	else
		*ret_options = options;
	return left;
}
