/* cmd_haproxy.c - prints what HAProxy reads. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "spoa/command.h"
#include "spoa/config/generate.h"

static const char usage[] =
        "usage: inference-spoa haproxy WHAT [options]\n\n"
        "WHAT:\n"
        "  config      a whole haproxy.cfg that runs\n"
        "  routing     the lines of a frontend only\n"
        "  spoe        the SPOE file\n"
        "  log-format  the format of the end-of-stream line\n"
        "  ingress     values for the chart of HAProxy's Kubernetes ingress\n"
        "  ingress-service  annotations of a Service behind it\n"
        "  wire        the variable contract, as docs/wire.md has it\n\n"
        "options:\n"
        "  --for VERSION        2.6, 3.0, 3.2 or any [any]; from 3.0 on prompts are hashed "
        "cheaper\n"
        "  --ladder LADDER      into which blocks a prompt is cut [" LADDER_DEFAULT "]\n"
        "  --regex KIND         any, pcre or posix: HAProxy's regular expressions [any]\n"
        "  --topology TOPOLOGY  combined, upper (level 1 above other HAProxys) or lower "
        "[combined]\n"
        "  --instance NAME=HOST:PORT,HOST:PORT...  a backend and its engines, instead of the "
        "example's; repeatable\n"
        "  --user NAME  the user and group that HAProxy serves as, once root has started it "
        "[those it is started by]\n"
        "  --agent-check HOST:PORT  each server asks the agent for its weight and maxconn (run "
        "--agent-check)\n"
        "  --session-key KEY  a key of the body that names a session where x-infer-session does "
        "not, like prompt_cache_key; a late one costs time; repeatable\n"
        "  --header NAME  a request header that affinity rules look at; repeatable\n"
        "  --backend NAMESPACE_svc_SERVICE_PORT  of the ingress: nothing else is routed; "
        "repeatable\n"
        "  --agent ADDRESS[:PORT]  of the ingress: an agent with a Deployment of its own; "
        "repeatable "
        "[a side-car]\n"
        "  --name NAME    of the ingress: the release of our chart [inference-spoa]\n";

static bool option_read(struct generate *generate, int option, const char *text,
                        struct error *error)
{
	switch (option) {
	case 'f':
		return generate_version(text, &generate->version, error);
	case 'l':
		return ladder_parse((struct span){ text, strlen(text) }, &generate->ladder, error);
	case 'r':
		return generate_regex(text, &generate->regex, error);
	case 't':
		return generate_topology(text, &generate->topology, error);
	case 'i':
		return generate_instance(generate, text, error);
	case 'c':
		return generate_agent_check(generate, text, error);
	case 'H':
		return generate_header(generate, text, error);
	case 'b':
		return generate_backend(generate, text, error);
	case 'k':
		return generate_session_key(generate, text, error);
	case 'a':
		return generate_agent(generate, text, error);
	case 'u':
		return generate_user(generate, text, error);
	case 'n':
		return generate_name(generate, text, error);
	default:
		return error_set(error, "no such option");
	}
}

static bool print(const char *what, const struct generate *generate, struct error *error)
{
	if (strcmp(what, "config") == 0)
		generate_config(generate, stdout);
	else if (strcmp(what, "routing") == 0)
		generate_routing(generate, stdout);
	else if (strcmp(what, "spoe") == 0)
		return generate_spoe(generate, stdout, error);
	else if (strcmp(what, "log-format") == 0)
		(generate_log_format(stdout), (void)putchar('\n'));
	else if (strcmp(what, "ingress") == 0)
		return generate_ingress(generate, stdout, error);
	else if (strcmp(what, "ingress-service") == 0)
		return generate_ingress_service(generate, stdout, error);
	else if (strcmp(what, "wire") == 0)
		generate_wire(stdout);
	else
		return error_set(error,
		                 "\"%s\" is not one of config, routing, spoe, log-format, ingress, "
		                 "ingress-service, wire",
		                 what);
	return true;
}

int cmd_haproxy(int argc, char **argv)
{
	static const struct option options[] = {
		{ "for", required_argument, NULL, 'f' },
		{ "ladder", required_argument, NULL, 'l' },
		{ "regex", required_argument, NULL, 'r' },
		{ "topology", required_argument, NULL, 't' },
		{ "instance", required_argument, NULL, 'i' },
		{ "agent-check", required_argument, NULL, 'c' },
		{ "session-key", required_argument, NULL, 'k' },
		{ "header", required_argument, NULL, 'H' },
		{ "backend", required_argument, NULL, 'b' },
		{ "agent", required_argument, NULL, 'a' },
		{ "user", required_argument, NULL, 'u' },
		{ "name", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct generate generate;
	struct error error = { "" };
	int option;

	generate_init(&generate);
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h') {
			(void)fputs(usage, stdout);
			return EXIT_OK;
		}
		if (option == '?' || !option_read(&generate, option, optarg, &error))
			break;
	}
	if (option == -1 && optind + 1 == argc && print(argv[optind], &generate, &error))
		return fflush(stdout) == 0 ? EXIT_OK : EXIT_FAILED;
	if (error.text[0] != '\0')
		(void)fprintf(stderr, "inference-spoa haproxy: %s\n", error.text);
	else
		(void)fputs(usage, stderr);
	return EXIT_USAGE;
}
