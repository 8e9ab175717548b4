/* cmd_show.c - `inference-spoa show`: asks a running agent, prints what it says. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/admin/admin.h"
#include "spoa/admin/show.h"
#include "spoa/ask.h"
#include "spoa/command.h"

struct shown {
	const char *name, *path, *argument, *help;
	void (*print)(const json_t *object, FILE *out);
};

#define AS_ROW(name, path, argument, help) { #name, path, argument, help, show_##name },
static const struct shown things[] = { SHOWN_THINGS(AS_ROW) };
#undef AS_ROW

enum { THING_COUNT = sizeof(things) / sizeof(things[0]) };

struct show_options {
	const char *server;
	bool json, help;
};

static void print_help(FILE *out)
{
	(void)fprintf(out, "usage: inference-spoa show WHAT [NAME] [options]\n\nWHAT:\n");
	for (size_t i = 0; i < THING_COUNT; i++)
		(void)fprintf(out, "  %-10s %s\n", things[i].name, things[i].help);
	(void)fprintf(out,
	              "\noptions:\n"
	              "  --server ADDRESS  unix:/path or ip:port of the agent's admin address\n"
	              "                    [" ADMIN_SOCKET ", then " ADMIN_TCP "]\n"
	              "  --json            the object as it is, on one line\n");
}

static bool read_options(int argc, char **argv, struct show_options *ret_options)
{
	static const struct option options[] = { { "server", required_argument, NULL, 's' },
		                                 { "json", no_argument, NULL, 'j' },
		                                 { "help", no_argument, NULL, 'h' },
		                                 { 0 } };
	int option;

	optind = 0; /* begins anew, whoever read options before */
	// NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 's':
			ret_options->server = optarg;
			break;
		case 'j':
			ret_options->json = true;
			break;
		case 'h':
			ret_options->help = true;
			break;
		default:
			return false;
		}
	}
	return true;
}

static const struct shown *thing_named(const char *name)
{
	for (size_t i = 0; i < THING_COUNT; i++)
		if (strcmp(things[i].name, name) == 0)
			return &things[i];
	return NULL;
}

/* Malloced; NULL without memory. */
static char *path_of(const struct shown *thing, const char *name)
{
	char *escaped = name ? ask_escape(name) : NULL;
	char *path = NULL;
	int len;

	if (name && !escaped)
		return NULL;
	len = asprintf(&path, "%s%s%s%s%s", thing->path, name ? "?" : "",
	               name ? thing->argument : "", name ? "=" : "", name ? escaped : "");
	free(escaped);
	return len < 0 ? NULL : path;
}

/* The agent's own words for what went wrong. */
static int complain(const struct reply *reply)
{
	json_t *problem = json_loads(reply->body, 0, NULL);
	const char *detail = json_string_value(json_object_get(problem, "detail"));

	(void)fprintf(stderr, "inference-spoa: status %d: %s\n", reply->status,
	              detail ? detail : "the agent gave no reason");
	json_decref(problem);
	return EXIT_FAILED;
}

static int print(const struct shown *thing, const struct reply *reply, bool json)
{
	json_t *object;

	if (reply->status != 200)
		return complain(reply);
	if (json)
		return puts(reply->body) < 0 ? EXIT_FAILED : EXIT_OK;
	object = json_loads(reply->body, 0, NULL);
	if (!object) {
		(void)fprintf(stderr, "inference-spoa: what answers there is not our agent\n");
		return EXIT_FAILED;
	}
	thing->print(object, stdout);
	json_decref(object);
	return EXIT_OK;
}

static int show(const struct shown *thing, const char *name, const struct show_options *options)
{
	char *path = path_of(thing, name);
	struct reply reply;
	int code;

	if (!path)
		return EXIT_FAILED;
	code = ask_agent(options->server, path, &reply);
	if (code == EXIT_OK) {
		code = print(thing, &reply, options->json);
		free(reply.body);
	} else {
		(void)fprintf(stderr,
		              "inference-spoa: no agent answers:\n%s\n"
		              "Is it running, and is this user in the group of its socket? "
		              "Another place: --server unix:/path or ip:port\n",
		              reply.reason);
	}
	free(path);
	return code;
}

int cmd_show(int argc, char **argv)
{
	struct show_options options = { 0 };
	const struct shown *thing = NULL;
	const char *name;

	if (!read_options(argc, argv, &options)) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (options.help) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (optind < argc)
		thing = thing_named(argv[optind]);
	name = optind + 1 < argc ? argv[optind + 1] : NULL;
	if (!thing || optind + 2 < argc) {
		if (optind < argc && !thing)
			(void)fprintf(stderr, "inference-spoa: nothing called %s to show\n\n",
			              argv[optind]);
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (name && thing->argument[0] == '\0') {
		(void)fprintf(stderr, "inference-spoa: %s takes no name\n\n", thing->name);
		print_help(stderr);
		return EXIT_USAGE;
	}
	return show(thing, name, &options);
}
