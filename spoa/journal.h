/* journal.h - what the operator reads: one line a fault, where it is handled.
 *
 * Lines go to stderr, with journald's <N> priority in front when stderr is not a
 * terminal's. The same kind of line is said at most once a second; the next one
 * tells how many were kept back. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/time.h"

/* syslog's numbers */
enum journal_level {
	LOGGED_ERROR = 3,
	LOGGED_WARNING = 4,
	LOGGED_NOTICE = 5,
	LOGGED_INFO = 6,
	LOGGED_DEBUG = 7
};

enum { JOURNAL_KINDS_MAX = 64 };

struct journal_kind {
	uint64_t key; /* hash of what makes it one kind */
	usec_t said_at;
	uint32_t kept_back;
};

struct journal {
	int fd;
	int level; /* nothing above this is said */
	bool json;
	bool priority; /* <N> in front */
	usec_t (*now)(void);
	struct journal_kind kinds[JOURNAL_KINDS_MAX];
	uint64_t suppressed; /* all in all */
};

void journal_init(struct journal *journal, int fd, int level, bool json, usec_t (*now)(void));
/* The format string itself is what "the same kind" means. */
void journal_say(struct journal *journal, int level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* For rooms that hand in finished text; the kind is the text up to its first digit. */
void journal_text(void *journal, int level, const char *text);

/* A line that is never kept back: one of a list that must be whole, or from somebody
 * who counts kinds himself. */
void journal_line(struct journal *journal, int level, const char *text);

/* "error" ... "debug"; -1 when it is none of them. */
int journal_level_named(const char *name);
