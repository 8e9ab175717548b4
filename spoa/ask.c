/* ask.c - one question, on a loop of its own that ends with the answer. */
#include "spoa/ask.h"

#include <ev.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/span.h"
#include "spoa/admin/admin.h"
#include "spoa/command.h"
#include "spoa/web/fetch.h"

enum { ANSWER_MAX = 256 << 20 };

struct question {
	struct ev_loop *loop;
	struct reply *reply;
	int code;
	const char *server;
};

static void on_done(void *data, const struct fetch_result *result)
{
	struct question *question = data;
	struct reply *reply = question->reply;

	ev_break(question->loop, EVBREAK_ALL);
	if (result->status == 0) {
		question->code = result->late ? EXIT_TIMED_OUT : EXIT_UNREACHABLE;
		(void)snprintf(reply->reason, sizeof(reply->reason), "%s: %s", question->server,
		               result->error);
		return;
	}
	reply->body = malloc(result->body_bytes + 1);
	if (!reply->body) {
		(void)snprintf(reply->reason, sizeof(reply->reason), "out of memory");
		return;
	}
	if (result->body_bytes > 0)
		memcpy(reply->body, result->body, result->body_bytes);
	reply->body[result->body_bytes] = '\0';
	reply->status = result->status;
	question->code = EXIT_OK;
}

static void run(struct question *question, const struct fetch_request *request)
{
	struct fetch *fetch = fetch_new(question->loop, 1);

	if (fetch && fetch_start(fetch, request, on_done, question))
		ev_run(question->loop, 0);
	fetch_free(fetch);
}

static int ask_one(const char *server, const char *path, struct span body, struct reply *ret_reply)
{
	static const char scheme[] = "unix:";
	bool over_unix = strncmp(server, scheme, strlen(scheme)) == 0;
	struct question question = { .reply = ret_reply, .code = EXIT_FAILED, .server = server };
	struct fetch_request request = { .body = body.at,
		                         .body_bytes = body.len,
		                         .deadline_ms = ASK_DEADLINE_MS,
		                         .answer_max = ANSWER_MAX };
	char *url = NULL;
	bool whole = strncmp(server, "http://", 7) == 0;

	*ret_reply = (struct reply){ .reason = "out of memory" };
	question.loop = ev_loop_new(EVFLAG_AUTO);
	if (question.loop && asprintf(&url, "%s%s%s", whole ? "" : "http://",
	                              over_unix ? "localhost" : server, path) >= 0) {
		request.url = url;
		request.unix_socket = over_unix ? server + strlen(scheme) : NULL;
		run(&question, &request);
		free(url);
	}
	if (question.loop)
		ev_loop_destroy(question.loop);
	return question.code;
}

static int ask(const char *server, const char *path, struct span body, struct reply *ret_reply)
{
	struct reply first;
	int code;

	if (server)
		return ask_one(server, path, body, ret_reply);
	code = ask_one(ADMIN_SOCKET, path, body, &first);
	if (code != EXIT_UNREACHABLE) {
		*ret_reply = first;
		return code;
	}
	code = ask_one(ADMIN_TCP, path, body, ret_reply);
	if (code == EXIT_UNREACHABLE) {
		struct reply second = *ret_reply;

		(void)snprintf(ret_reply->reason, sizeof(ret_reply->reason), "%.240s\n%.240s",
		               first.reason, second.reason);
	}
	return code;
}

int ask_agent(const char *server, const char *path, struct reply *ret_reply)
{
	return ask(server, path, (struct span){ NULL, 0 }, ret_reply);
}

int ask_agent_with(const char *server, const char *path, const char *body, size_t body_bytes,
                   struct reply *ret_reply)
{
	return ask(server, path, (struct span){ body, body_bytes }, ret_reply);
}

char *ask_escape(const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	char *escaped = malloc(3 * strlen(text) + 1);
	size_t len = 0;

	if (!escaped)
		return NULL;
	for (; *text != '\0'; text++) {
		unsigned char letter = (unsigned char)*text;
		bool plain = (letter >= '0' && letter <= '9') ||
		             ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z') || letter == '-' ||
		             letter == '.' || letter == '_' || letter == '~';

		if (!plain) {
			escaped[len++] = '%';
			escaped[len++] = digits[letter >> 4];
			letter = (unsigned char)digits[letter & 15];
		}
		escaped[len++] = (char)letter;
	}
	escaped[len] = '\0';
	return escaped;
}
