/* cmd_check.c - checks a policy, a haproxy.cfg and its SPOE file, and says what is
 * wrong. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "spoa/check_live.h"
#include "spoa/check_spop.h"
#include "spoa/command.h"
#include "spoa/config/check_haproxy.h"
#include "spoa/config/check_names.h"
#include "spoa/config/host_port.h"
#include "spoa/config/policy.h"
#include "spoa/engines/profiles.h"

struct options {
	const char *policy;
	const char *configs[CHECK_CONFIGS_MAX];
	size_t config_count;
	const char *version;
	const char *spop;
	const char *sockets[SOURCES_MAX];
	size_t socket_count;
	unsigned agent_check_port; /* 0: not said */
	const char *engine_profiles;
	bool live;
	bool strict;
	bool json;
};

static void print_usage(FILE *out)
{
	(void)fprintf(
	        out,
	        "usage: inference-spoa check [options]\n\n"
	        "Says all that is wrong in a policy, in haproxy.cfg and its SPOE file, and\n"
	        "where they do not fit together.\n\n"
	        "  -c, --policy FILE        a policy (or INFERENCE_SPOA_POLICY)\n"
	        "  --haproxy-config FILE    a haproxy.cfg; repeatable: one without a SPOE filter\n"
	        "                           is a part of the others, as with several -f\n"
	        "  --haproxy-version V      of the HAProxy that reads it, like 3.0.11\n"
	        "  --agent-check HOST:PORT  as run --agent-check has it: where servers should ask\n"
	        "  --engine-profiles DIR    profiles of engines, as run --engine-profiles has "
	        "them\n"
	        "  --live                   asks what runs, too: HAProxy's runtime sockets, and\n"
	        "                           each engine for the models it serves\n"
	        "  --haproxy SOCKET         a runtime socket, with --live; repeatable\n"
	        "  --spop ADDRESS           only asks an agent, as HAProxy does, whether it "
	        "serves\n"
	        "  --strict                 warnings count as errors\n"
	        "  --json                   one object instead of lines\n\n"
	        "exit codes: 0 no errors, 2 errors; --spop: 0 it serves, 1 not, 3 nobody "
	        "answers\n");
}

static bool read_agent_check(const char *text, struct options *options)
{
	struct error error = { "" };
	struct span host;

	if (host_port_read(text, &host, &options->agent_check_port, &error))
		return true;
	(void)fprintf(stderr, "inference-spoa check: --agent-check: %s\n", error.text);
	return false;
}

static bool read_option(int flag, struct options *options)
{
	switch (flag) {
	case 'c':
		options->policy = optarg;
		return true;
	case 'f':
		if (options->config_count == CHECK_CONFIGS_MAX)
			return false;
		options->configs[options->config_count++] = optarg;
		return true;
	case 'v':
		options->version = optarg;
		return true;
	case 'l':
		options->live = true;
		return true;
	case 'a':
		if (options->socket_count == SOURCES_MAX)
			return false;
		options->sockets[options->socket_count++] = optarg;
		return true;
	case 'p':
		options->spop = optarg;
		return true;
	case 'A':
		return read_agent_check(optarg, options);
	case 'e':
		options->engine_profiles = optarg;
		return true;
	case 's':
		options->strict = true;
		return true;
	case 'j':
		options->json = true;
		return true;
	default:
		return false;
	}
}

static int ask_spop(const char *address)
{
	struct error error = { "" };
	int left = check_spop(address, &error);

	if (left != EXIT_OK)
		(void)fprintf(stderr, "inference-spoa check: --spop: %s\n", error.text);
	return left;
}

/* -1: go on; else the exit code to leave with. */
static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option flags[] = {
		{ "policy", required_argument, NULL, 'c' },
		{ "haproxy-config", required_argument, NULL, 'f' },
		{ "haproxy-version", required_argument, NULL, 'v' },
		{ "live", no_argument, NULL, 'l' },
		{ "haproxy", required_argument, NULL, 'a' },
		{ "agent-check", required_argument, NULL, 'A' },
		{ "engine-profiles", required_argument, NULL, 'e' },
		{ "spop", required_argument, NULL, 'p' },
		{ "strict", no_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int flag;

	while ((flag = getopt_long(argc, argv, "c:h", flags, NULL)) != -1) {
		if (read_option(flag, options))
			continue;
		print_usage(flag == 'h' ? stdout : stderr);
		return flag == 'h' ? EXIT_OK : EXIT_USAGE;
	}
	if (optind == argc && options->spop)
		return ask_spop(options->spop);
	if (optind == argc && options->live == (options->socket_count > 0) &&
	    (options->policy || options->config_count > 0 || options->live ||
	     options->engine_profiles))
		return -1;
	print_usage(stderr);
	return EXIT_USAGE;
}

/* What runs, against the policy. */
static void check_running(const struct options *options, const struct policy_file *file,
                          struct problems *problems)
{
	const struct policy *policy = policy_file_policy(file);
	struct credential credential = { "" };
	struct error error = { "" };
	struct live *live = NULL;

	if (credential_read(&credential, policy->engine_credential_file, &error))
		live = live_new(policy, options->sockets, options->socket_count, &credential,
		                &error);
	if (live)
		check_live(file, live, problems);
	else
		problems_add(problems, (struct place){ .file = policy_file_name(file) },
		             SEVERITY_ERROR, NULL, "live-haproxy", "%s", error.text);
	live_free(live);
}

/* The agent is told of a store by the policy, or by --redis, which may come from here. */
static bool is_shared(const struct policy_file *file)
{
	const char *url = getenv("INFERENCE_SPOA_REDIS");

	return (url && *url) || (file && policy_file_policy(file)->sharing.url[0] != '\0');
}

/* What does not fit together, and what the policy wants to hear nothing of. */
static void check_all(const struct options *options, struct problems *problems)
{
	struct policy_file *file = policy_load(options->policy, problems);
	struct check_options check = { .files = options->configs,
		                       .file_count = options->config_count,
		                       .version = options->version,
		                       .agent_check_port = options->agent_check_port };

	if (file) {
		check.policy = policy_file_policy(file);
		check.ladder = &policy_file_policy(file)->ladder;
		check.ledger_ttl_s = (unsigned)(policy_file_policy(file)->ledger_ttl / SECOND);
	}
	check.tenant_leaves = is_shared(file);
	for (size_t i = 0; i < options->config_count; i++)
		check_haproxy(options->configs[i], &check, problems);
	if (file)
		check_names(file, options->configs, options->config_count, options->version,
		            problems);
	if (options->engine_profiles)
		engine_profiles_free(engine_profiles_load(options->engine_profiles, problems));
	if (file && options->live)
		check_running(options, file, problems);
	for (size_t i = 0; file && policy_file_ignored(file, i); i++)
		problems_ignore(problems, policy_file_ignored(file, i));
	policy_file_free(file);
}

int cmd_check(int argc, char **argv)
{
	struct options options = { .policy = getenv("INFERENCE_SPOA_POLICY") };
	int left = read_options(argc, argv, &options);
	struct problems *problems;
	bool bad;

	if (left >= 0)
		return left;
	problems = problems_new();
	if (!problems)
		return EXIT_FAILED;
	check_all(&options, problems);
	if (options.json)
		problems_print_json(problems, stdout);
	else
		problems_print(problems, stdout);
	bad = problems_count(problems, SEVERITY_ERROR) > 0 ||
	      (options.strict && problems_count(problems, SEVERITY_WARNING) > 0);
	problems_free(problems);
	return bad ? EXIT_USAGE : EXIT_OK;
}
