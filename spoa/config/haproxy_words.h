/* haproxy_words.h - one line of a haproxy.cfg as HAProxy splits it.
 *
 * Blanks separate words, # ends the line. Single quotes keep all; double quotes
 * keep blanks and expand $NAME, ${NAME} and ${NAME-default}; outside single
 * quotes a backslash takes the next character as it is, \n \r \t and \xHH as in
 * C. What does not end is taken to the end of the line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/span.h"

enum {
	HAPROXY_WORDS_MAX = 512,        /* more than HAProxy takes, so that we can tell */
	HAPROXY_WORDS_TEXT_MAX = 16384, /* of all words of a line, with their NULs */
};

/* Gives what a variable of the environment holds, NULL if it is unknown. */
struct haproxy_environment {
	const char *(*value)(const void *data, struct span name);
	const void *data;
};

struct haproxy_words {
	char text[HAPROXY_WORDS_TEXT_MAX]; /* the words one behind the other, each with a NUL */
	uint32_t used;                     /* of text */
	uint32_t count;
	bool cut; /* more than fits */
};

/* A variable nobody knows stays as it is written. The line has no newline. */
void haproxy_words_split(struct span line, const struct haproxy_environment *environment,
                         struct haproxy_words *ret_words);
