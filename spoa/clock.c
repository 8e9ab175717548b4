/* clock.c - the only place that asks the system for the time. */
#include "spoa/clock.h"

#include <time.h>

static usec_t read_clock(clockid_t which)
{
	struct timespec at = { 0 };

	(void)clock_gettime(which, &at);
	return (usec_t)at.tv_sec * SECOND + (usec_t)at.tv_nsec / 1000;
}

usec_t clock_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

usec_t clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}
