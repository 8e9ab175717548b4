/* runtime.h - asks HAProxy's runtime socket, one short connection a question.
 *
 * A connection that stays open stays with the old process over a reload, so each
 * question makes its own. One question at a time; each has a deadline, and an
 * answer has a largest size. */
#pragma once

#include "spoa/observe/observe.h"

struct runtime;

enum runtime_status {
	RUNTIME_OK,
	RUNTIME_REFUSED, /* nobody listens there: refused, or no such socket */
	RUNTIME_FAILED,  /* no permission, reset, or closed without a word */
	RUNTIME_LATE,    /* the deadline passed */
	RUNTIME_TOO_BIG,
};

struct runtime_answer {
	enum runtime_status status;
	struct span text;  /* all that was said; good for the length of the callback */
	const char *error; /* why not, in words; NULL when RUNTIME_OK */
	usec_t elapsed;
};

struct runtime_options {
	const char *address; /* "/path", "unix:/path", "host:port" or "[ip6]:port" */
	usec_t deadline;
	size_t answer_max; /* bytes */
};

/* A host name is looked up here, once, and may block. */
MUST_CHECK struct runtime *runtime_new(const struct observe *observe,
                                       const struct runtime_options *options, struct error *error);
/* Gives up a question without calling back. */
void runtime_free(struct runtime *runtime);

/* Sends the commands (one line, joined by ';', without newline, at most 255 bytes).
 * False while a question is open, and then nothing happens. on_answer is called
 * once, never from inside this call; it may ask again, but not free. */
bool runtime_ask(struct runtime *runtime, const char *commands,
                 void (*on_answer)(void *data, const struct runtime_answer *answer), void *data);
bool runtime_asking(const struct runtime *runtime);
