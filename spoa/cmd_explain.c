/* cmd_explain.c - `inference-spoa explain`: why a request went where it did, or, by
 * a dry run, where one would go now. The agent does the walk; this only asks. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/admin/admin.h"
#include "spoa/admin/show.h"
#include "spoa/ask.h"
#include "spoa/command.h"
#include "spoa/config/text.h"

enum { PROMPT_MAX = 1 << 20 };

static const char usage[] =
        "usage: inference-spoa explain --id ID [options]\n"
        "       inference-spoa explain [--model M] [--prompt FILE | --body FILE] [options]\n\n"
        "With --id, a recent decision: who could have served it, with what numbers, which stage\n"
        "dropped whom. Else a dry run: the same walk for a request that nobody sends; nothing\n"
        "is taken, counted or bound.\n\n"
        "options:\n"
        "  --id ID            HAProxy's unique-id of the request\n"
        "  --model NAME       as clients name it; of --body, what it says\n"
        "  --prompt FILE      the prompt alone; - is standard input\n"
        "  --body FILE        a whole request body, from which the prompt is cut as HAProxy does\n"
        "  --host, --path, --method, --tenant, --session, --strategy, --backend VALUE\n"
        "  --header NAME:VALUE  a header that affinity rules look at; repeatable\n"
        "  --server ADDRESS   unix:/path or ip:port of the agent's admin address\n"
        "                     [" ADMIN_SOCKET ", then " ADMIN_TCP "]\n"
        "  --json             the object as it is, on one line\n";

struct asked {
	const char *id, *server, *file;
	bool whole, json, help;
	FILE *query; /* "model=m&tenant=t" */
	bool any;
};

/* Options that are handed on as they stand. */
static const char *const handed[] = { "model",   "host",     "path",    "method", "tenant",
	                              "session", "strategy", "backend", "header" };
enum { HANDED_COUNT = sizeof(handed) / sizeof(handed[0]) };

static bool hand_on(struct asked *asked, const char *name, const char *value)
{
	char *escaped = ask_escape(value);

	if (!escaped)
		return false;
	(void)fprintf(asked->query, "%c%s=%s", asked->any ? '&' : '?', name, escaped);
	asked->any = true;
	free(escaped);
	return true;
}

static bool read_option(struct asked *asked, int option, const char *value)
{
	if (option >= 1000 && option < 1000 + HANDED_COUNT)
		return hand_on(asked, handed[option - 1000], value);
	switch (option) {
	case 'i':
		asked->id = value;
		return hand_on(asked, "id", value);
	case 'p':
	case 'b':
		if (asked->file)
			return false;
		asked->file = value;
		asked->whole = option == 'b';
		return !asked->whole || hand_on(asked, "whole", "1");
	case 's':
		asked->server = value;
		return true;
	case 'j':
		return asked->json = true;
	case 'h':
		return asked->help = true;
	default:
		return false;
	}
}

static bool read_options(int argc, char **argv, struct asked *asked)
{
	struct option options[HANDED_COUNT + 7] = {
		{ "id", required_argument, NULL, 'i' },
		{ "prompt", required_argument, NULL, 'p' },
		{ "body", required_argument, NULL, 'b' },
		{ "server", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
	};
	int option;

	for (int i = 0; i < HANDED_COUNT; i++)
		options[6 + i] = (struct option){ handed[i], required_argument, NULL, 1000 + i };
	optind = 0; /* begins anew, whoever read options before */
	// NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (!read_option(asked, option, optarg))
			return false;
	return optind == argc && (!asked->id || !asked->file);
}

/* Malloced; NULL, and said, when it cannot be read. */
static char *read_file(const char *name, size_t *ret_len)
{
	struct error error = { "" };
	char *text = text_read(strcmp(name, "-") == 0 ? "/dev/stdin" : name, PROMPT_MAX, ret_len,
	                       &error);

	if (!text)
		(void)fprintf(stderr, "inference-spoa: %s\n", error.text);
	return text;
}

static int print(const struct asked *asked, const struct reply *reply)
{
	json_t *object = json_loads(reply->body, 0, NULL);
	int code = EXIT_FAILED;

	if (reply->status != 200) {
		const char *detail = json_string_value(json_object_get(object, "detail"));

		(void)fprintf(stderr, "inference-spoa: status %d: %s\n", reply->status,
		              detail ? detail : "the agent gave no reason");
	} else if (asked->json) {
		code = puts(reply->body) < 0 ? EXIT_FAILED : EXIT_OK;
	} else if (object) {
		show_explain(object, stdout);
		code = EXIT_OK;
	} else {
		(void)fprintf(stderr, "inference-spoa: what answers there is not our agent\n");
	}
	json_decref(object);
	return code;
}

static int explain(const struct asked *asked, const char *query)
{
	size_t len = 0;
	char *body = asked->file ? read_file(asked->file, &len) : strdup("");
	char *path = NULL;
	struct reply reply;
	int code = EXIT_FAILED;

	if (body && asprintf(&path, "/api/v1/explain%s", query) >= 0) {
		if (asked->id)
			code = ask_agent(asked->server, path, &reply);
		else
			code = ask_agent_with(asked->server, path, body, len, &reply);
		if (code == EXIT_OK) {
			code = print(asked, &reply);
			free(reply.body);
		} else {
			(void)fprintf(stderr, "inference-spoa: no agent answers:\n%s\n",
			              reply.reason);
		}
		free(path);
	}
	free(body);
	return code;
}

int cmd_explain(int argc, char **argv)
{
	struct asked asked = { 0 };
	char *query = NULL;
	size_t len = 0;
	int code = EXIT_USAGE;
	bool right;

	asked.query = open_memstream(&query, &len);
	if (!asked.query)
		return EXIT_FAILED;
	right = read_options(argc, argv, &asked);
	(void)fclose(asked.query);
	if (asked.help) {
		(void)fputs(usage, stdout);
		code = EXIT_OK;
	} else if (!right) {
		(void)fputs(usage, stderr);
	} else {
		code = explain(&asked, query);
	}
	free(query);
	return code;
}
