/* run_options.h - what `inference-spoa run` is told by flags and environment.
 *
 * One table names every flag, its variable, its default and its help. A flag
 * wins over the environment (INFERENCE_SPOA_<NAME>, several values separated by
 * spaces), that over the default. An empty value is none: of a list, an empty list
 * (--admin= opens no admin port), of anything else, what the default says. Sockets that a
 * service manager holds for us (inherited.h) come first in their lists, as "fd@N", and
 * instead of the default. All of it needs a
 * restart; what may change while running stands in the policy. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/target.h"

enum { LISTEN_MAX = 8, RUN_WORDS_MAX = 32 };

struct addresses {
	const char *at[LISTEN_MAX];
	uint32_t count;
};

struct run_options {
	const char *policy;       /* NULL: the embedded default */
	struct addresses haproxy; /* runtime sockets */
	struct addresses spop;
	struct addresses log_listen;
	struct addresses admin;
	struct addresses agent_check;
	const char *engine_profiles; /* directory; NULL: those of the program */
	struct addresses skip;       /* backends that are no instances */
	struct addresses keep;       /* lists of those that are; none: all */
	const char *redis;           /* URL of the store; NULL: what the policy says */
	const char *log_level;       /* one of the journal's */
	const char *log_format;      /* text or json */
	const char *log_decisions;   /* off, all, or N: one in N */
	const char *on_bad_policy;   /* exit or defaults */
	const char *ready_file;
	const char *socket_user;  /* NULL: ours */
	const char *socket_group; /* NULL: ours */
	uint32_t socket_mode;
	uint64_t seed; /* 0: drawn at start */
	bool observe;
	bool watch_policy;
	bool no_scrape;

	char *words[RUN_WORDS_MAX]; /* what lists from the environment point into */
	uint32_t word_count;
};

/* -1: go on; else the exit code to leave with (after --help, or a mistake). */
MUST_CHECK int run_options_read(int argc, char **argv, struct run_options *ret_options);
/* Only the words of its lists; the struct is the caller's. */
void run_options_free(struct run_options *options);
