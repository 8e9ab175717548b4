/* log.h - what the server has to say, at most one line per kind and second.
 *
 * KIND(id, level, name). Peers make mistakes in storms; the count of lines held
 * back is told with the next one of its kind. */
#pragma once

#include <stdint.h>

#include "policies/core/time.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE, LOG_LEVEL_DEBUG };

#define LOG_KINDS(KIND)                                                                            \
	KIND(LISTEN, LOG_LEVEL_NOTICE, "listen")                                                   \
	KIND(ACCEPT, LOG_LEVEL_WARNING, "accept")                                                  \
	KIND(REFUSED, LOG_LEVEL_WARNING, "refused")                                                \
	KIND(FRAME, LOG_LEVEL_WARNING, "frame")                                                    \
	KIND(HANDSHAKE, LOG_LEVEL_WARNING, "handshake")                                            \
	KIND(TIMEOUT, LOG_LEVEL_WARNING, "timeout")                                                \
	KIND(LATE, LOG_LEVEL_WARNING, "late")                                                      \
	KIND(PEER, LOG_LEVEL_NOTICE, "peer")                                                       \
	KIND(CONNECTION, LOG_LEVEL_DEBUG, "connection")

#define AS_ENUM(id, ...) LOG_##id##_KIND,
enum log_kind { LOG_KINDS(AS_ENUM) LOG_KIND_COUNT };
#undef AS_ENUM

/* Where lines go. write may be NULL. The text is one line without its end. */
struct log_sink {
	void (*write)(void *data, enum log_level level, const char *kind, const char *text);
	void *data;
};

struct log {
	struct log_sink sink;
	struct {
		usec_t since; /* of the second that a line was written in; 0 = none yet */
		uint64_t held;
	} kinds[LOG_KIND_COUNT];
};

void log_init(struct log *log, const struct log_sink *sink);
void log_write(struct log *log, enum log_kind kind, usec_t now, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
