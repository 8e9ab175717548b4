/* capacity.h - output tokens/s that an engine can make, from what it did make.
 *
 * Of each interval with a mean of one running request or more, rate = growth / interval.
 * The first is taken. A higher one raises it by (rate - capacity) x (1 - exp(-interval /
 * 10 s)), and so the running requests that it was seen with. A lower one lowers it, with
 * 60 s instead of 10, but only while at least 0.8 of those run: a quiet engine keeps its
 * peak, one that became slow does not, since work piles up on it.
 *
 * An engine that was never seen with more than a few running has shown what it was asked
 * for, not what it can do: its rate is no capacity yet. Without this, eight equal engines
 * with little to do were held to be as different as their luck, and the fullest got twice
 * its part (replayed; with it, 1.07 times). */
#pragma once

#include <stdbool.h>

#define CAPACITY_RUNNING_MIN 4.0

struct capacity {
	bool known;
	double rate;    /* output tokens/s */
	double running; /* requests that it was seen with */
};

/* False while it is not known. */
bool capacity_shown(const struct capacity *capacity, double *ret_rate);
void capacity_add(struct capacity *capacity, double rate, double running, double seconds);
