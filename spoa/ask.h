/* ask.h - one question to a running agent, for commands. It waits for the answer. */
#pragma once

#include <stddef.h>

enum {
	ASK_REASON_MAX = 512,
	ASK_DEADLINE_MS = 5000,
};

struct reply {
	int status;
	char *body;                  /* NUL-terminated; the caller frees it */
	char reason[ASK_REASON_MAX]; /* why there is no answer, in words for people */
};

/* An exit code: EXIT_OK when there is an answer of whatever status;
 * EXIT_UNREACHABLE, EXIT_TIMED_OUT. server: "unix:/path", "ip:port", or NULL: the
 * default socket, and then the default port. */
int ask_agent(const char *server, const char *path, struct reply *ret_reply);
/* The same with a body, by POST. */
int ask_agent_with(const char *server, const char *path, const char *body, size_t body_bytes,
                   struct reply *ret_reply);

/* The text as it may stand in a query, malloced; NULL when memory ran out. */
char *ask_escape(const char *text);
