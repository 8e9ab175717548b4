/* log.h - what the operator reads: one line a fault, where it is handled.
 *
 * Lines go to stderr, with journald's <N> priority in front when stderr is not a
 * terminal's. The same kind of line is said at most once a second; the next one
 * tells how many were kept back. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/time.h"

/* syslog's numbers */
enum log_level {
	LOGGED_ERROR = 3,
	LOGGED_WARNING = 4,
	LOGGED_NOTICE = 5,
	LOGGED_INFO = 6,
	LOGGED_DEBUG = 7
};

enum { LOG_KINDS_MAX = 64 };

struct log_kind {
	uint64_t key; /* hash of what makes it one kind */
	usec_t said_at;
	uint32_t kept_back;
};

struct log {
	int fd;
	int level; /* nothing above this is said */
	bool json;
	bool priority; /* <N> in front */
	usec_t (*now)(void);
	struct log_kind kinds[LOG_KINDS_MAX];
	uint64_t suppressed; /* all in all */
};

void log_init(struct log *log, int fd, int level, bool json, usec_t (*now)(void));
/* The format string itself is what "the same kind" means. */
void log_say(struct log *log, int level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* For rooms that hand in finished text; the kind is the text up to its first digit. */
void log_text(void *log, int level, const char *text);

/* "error" ... "debug"; -1 when it is none of them. */
int log_level_named(const char *name);
