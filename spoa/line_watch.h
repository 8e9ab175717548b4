/* line_watch.h - notices that HAProxy's end lines do not come.
 *
 * Without them slots are held until they expire or HAProxy's counts correct them,
 * and nothing is learnt: an operator must know. A single stream may well run for
 * longer than LINE_WATCH_PATIENCE, so what is missed is an end that must have been:
 * more was decided since the last line than is still open. When nobody counts for
 * us (no runtime socket, a long queue), LINE_WATCH_LIMIT decides alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/time.h"

#define LINE_WATCH_PATIENCE (60 * SECOND)
#define LINE_WATCH_LIMIT    (600 * SECOND)

/* All zero is right at the start. */
struct line_watch {
	uint64_t decided; /* since the last line */
	usec_t since;     /* the first of these */
};

void line_watch_decided(struct line_watch *watch, usec_t now);
void line_watch_line(struct line_watch *watch);
/* open: requests in flight. */
bool line_watch_missing(const struct line_watch *watch, uint32_t open, usec_t now);
