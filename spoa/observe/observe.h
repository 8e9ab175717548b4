/* observe.h - what every observer needs: the loop, the facts it fills, a clock,
 * and somebody to tell.
 *
 * Nothing in this room logs by itself or keeps a global: the agent makes one of
 * these and hands it to each part. It is copied; what it points to must outlive
 * the part. */
#pragma once

#include "policies/state/facts.h"
#include "spoa/observe/credential.h"

struct ev_loop;

/* As syslog numbers them. */
enum observe_level {
	OBSERVE_ERROR = 3,
	OBSERVE_WARNING = 4,
	OBSERVE_NOTICE = 5,
	OBSERVE_INFO = 6,
	OBSERVE_DEBUG = 7,
};

struct observe_log {
	void (*say)(void *data, int level, const char *text); /* NULL: nobody listens */
	void *data;
};

struct observe {
	struct ev_loop *loop;
	struct facts *facts;
	usec_t (*now)(void); /* monotonic */
	struct observe_log log;
	const struct credential *credential; /* for engines; NULL: none */
};

/* One sentence for the operator, cut at 255 bytes. */
void observe_say(const struct observe *observe, enum observe_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
