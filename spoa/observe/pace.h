/* pace.h - reads what comes often by the clock, not by each arrival.
 *
 * To be woken for every log line costs more than to read it. Once PACE_WOKEN arrivals
 * have come within PACE_S the sources are not watched any more but read every PACE_S,
 * until there is nothing: a line waits 2 ms at most then, and thousands a second cost five
 * hundred turns of the loop. Where little comes, each is read at once. */
#pragma once

#include <ev.h>
#include <stdbool.h>

#define PACE_S 0.002
enum { PACE_WOKEN = 6 }; /* a request's line comes twice, by datagram and by ring */

struct pace_of {
	bool (*read)(void *data); /* all sources, once each; false: there was nothing */
	void (*watch)(void *data, bool watch); /* begin, or cease, to be woken by each */
	void *data;
};

struct pace {
	struct pace_of of;
	struct ev_loop *loop;
	ev_timer timer;  /* runs while the sources are read by the clock */
	ev_tstamp since; /* the loop's clock at the first arrival that counts */
	unsigned woken;  /* arrivals since then */
};

/* Must not move afterwards. */
void pace_init(struct pace *pace, struct ev_loop *loop, const struct pace_of *of);
/* A source has woken us and is read. */
void pace_woken(struct pace *pace);
/* The sources are read by the clock: a new one is not to be watched. */
bool pace_keeps(const struct pace *pace);
/* Safe to repeat; before the sources go. */
void pace_stop(struct pace *pace);
