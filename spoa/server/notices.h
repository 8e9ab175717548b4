/* notices.h - what the server has to say, at most one line per kind and second.
 *
 * NOTICE(id, level, limited). Peers make mistakes in storms; how many lines
 * were held back is told with the next of its kind. Levels are syslog's; what only
 * the operator causes is not limited. */
#pragma once

#include <stdint.h>

#include "policies/core/time.h"

enum { NOTICE_WARNING = 4, NOTICE_NOTICE = 5, NOTICE_DEBUG = 7 };

#define NOTICES(NOTICE)                                                                            \
	NOTICE(LISTENING, NOTICE_NOTICE, 0)                                                        \
	NOTICE(ACCEPT_FAILED, NOTICE_WARNING, 1)                                                   \
	NOTICE(TOO_MANY, NOTICE_WARNING, 1)                                                        \
	NOTICE(BAD_HANDSHAKE, NOTICE_WARNING, 1)                                                   \
	NOTICE(BAD_FRAME, NOTICE_WARNING, 1)                                                       \
	NOTICE(TOO_SLOW, NOTICE_WARNING, 1)                                                        \
	NOTICE(LATE_ANSWER, NOTICE_WARNING, 1)                                                     \
	NOTICE(PEER_ERROR, NOTICE_NOTICE, 1)                                                       \
	NOTICE(RESET, NOTICE_DEBUG, 1)

#define AS_ENUM(id, ...) NOTICE_OF_##id,
enum notice { NOTICES(AS_ENUM) NOTICE_COUNT };
#undef AS_ENUM

/* Where lines go: text is one line without its end. write may be NULL. */
struct notice_sink {
	void (*write)(void *data, int level, const char *text);
	void *data;
};

struct notices {
	struct notice_sink sink;
	struct {
		usec_t said_at; /* 0 = never */
		uint64_t held_back;
	} kinds[NOTICE_COUNT];
};

void notices_init(struct notices *notices, const struct notice_sink *sink);
void notices_say(struct notices *notices, enum notice notice, usec_t now, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
