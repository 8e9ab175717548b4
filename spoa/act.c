/* act.c - asks the agent to do it; and waits, if told so, until nothing runs there. */
#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spoa/act.h"
#include "spoa/admin/admin.h"
#include "spoa/ask.h"
#include "spoa/clock.h"
#include "spoa/command.h"
#include "spoa/duration.h"

enum { PAUSE_US = 200000 };

struct act_options {
	const char *server, *wait;
	bool help;
};

static void print_help(const struct act_command *command, FILE *out)
{
	(void)fprintf(out,
	              "usage: inference-spoa %s%s%s\n\n%s\n%s"
	              "  --server unix:/PATH  the agent's admin socket [" ADMIN_SOCKET "]; by TCP "
	              "nothing may be changed\n%s",
	              command->name, command->targets > 0 ? " " : "", command->usage, command->help,
	              command->targets > 0
	                      ? "TARGET: an instance, INSTANCE/SERVER, ip:port, or ip:port#rank\n\n"
	                      : "",
	              command->waits ? "  --wait TIME          until nothing runs there, like 10m; "
	                               "exit code 4 if something still does\n"
	                             : "");
}

static bool read_options(int argc, char **argv, struct act_options *ret_options)
{
	static const struct option flags[] = { { "server", required_argument, NULL, 's' },
		                               { "wait", required_argument, NULL, 'w' },
		                               { "help", no_argument, NULL, 'h' },
		                               { 0 } };
	int flag;

	optind = 0;
	// NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
	while ((flag = getopt_long(argc, argv, "h", flags, NULL)) != -1) {
		if (flag == 's')
			ret_options->server = optarg;
		else if (flag == 'w')
			ret_options->wait = optarg;
		else if (flag == 'h')
			ret_options->help = true;
		else
			return false;
	}
	return true;
}

/* Malloced; NULL without memory. */
static char *path_of(const struct act_command *command, const char *what, const char *target)
{
	char *escaped = target ? ask_escape(target) : NULL;
	char *path = NULL;

	if (asprintf(&path, "/api/v1/act/%s%s%s%s%s", command->name, target ? "?target=" : "",
	             escaped ? escaped : "", what ? "&what=" : "", what ? what : "") < 0)
		path = NULL;
	free(escaped);
	return path;
}

/* "10.0.0.1:8000: drained, up, 3 running" */
static void say(const json_t *object, double running)
{
	const char *target = json_string_value(json_object_get(object, "target"));

	if (target)
		(void)printf("%s: %s%s, %g running\n", target,
		             json_is_true(json_object_get(object, "drained")) ? "drained, " : "",
		             json_string_value(json_object_get(object, "health")), running);
}

/* An exit code; *ret_running: requests in flight there, -1 where that means nothing. */
static int ask(const struct act_options *options, const char *path, bool quiet, double *ret_running)
{
	struct reply reply;
	int code = ask_agent_with(options->server, path, "{}", 2, &reply);
	json_t *object;

	if (code != EXIT_OK) {
		(void)fprintf(stderr, "inference-spoa: no agent answers:\n%s\n", reply.reason);
		return code;
	}
	object = json_loads(reply.body, 0, NULL);
	*ret_running = -1;
	if (reply.status == 200) {
		json_t *running = json_object_get(object, "running");

		*ret_running = running ? json_number_value(running) : -1;
		if (!quiet || *ret_running <= 0)
			say(object, *ret_running);
	} else {
		const char *detail = json_string_value(json_object_get(object, "detail"));

		(void)fprintf(stderr, "inference-spoa: status %d: %s\n", reply.status,
		              detail ? detail : "the agent gave no reason");
	}
	json_decref(object);
	code = reply.status == 200 ? EXIT_OK : EXIT_FAILED;
	free(reply.body);
	return code;
}

static int wait_for(const struct act_options *options, const char *path, usec_t time,
                    double running)
{
	usec_t until = clock_monotonic() + time;
	int code = EXIT_OK;

	while (code == EXIT_OK && running > 0) {
		if (clock_monotonic() >= until) {
			(void)fprintf(stderr, "inference-spoa: %g requests still run there\n",
			              running);
			return EXIT_TIMED_OUT;
		}
		(void)usleep(PAUSE_US);
		code = ask(options, path, true, &running);
	}
	return code;
}

static int run(const struct act_command *command, const struct act_options *options, char **names)
{
	const char *target = command->targets > 0 ? names[command->targets - 1] : NULL;
	char *path = path_of(command, command->targets > 1 ? names[0] : NULL, target);
	struct error error = { "" };
	double running = 0;
	usec_t time = 0;
	int code = EXIT_FAILED;

	if (options->wait && !duration_read("--wait", options->wait, &time, &error)) {
		(void)fprintf(stderr, "inference-spoa: %s\n", error.text);
		code = EXIT_USAGE;
	} else if (path) {
		code = ask(options, path, false, &running);
	}
	if (code == EXIT_OK && options->wait)
		code = wait_for(options, path, time, running);
	free(path);
	return code;
}

int act_run(int argc, char **argv, const struct act_command *command)
{
	struct act_options options = { 0 };

	if (!read_options(argc, argv, &options)) {
		print_help(command, stderr);
		return EXIT_USAGE;
	}
	if (options.help) {
		print_help(command, stdout);
		return EXIT_OK;
	}
	if (argc - optind != command->targets || (options.wait && !command->waits)) {
		print_help(command, stderr);
		return EXIT_USAGE;
	}
	return run(command, &options, argv + optind);
}
