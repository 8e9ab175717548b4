/* time.h - the one unit of time. */
#pragma once

#include <stdint.h>

/* Microseconds; monotonic when a point in time. Nothing in policies/ reads a
 * clock: now is an argument. */
typedef uint64_t usec_t;

#define MSEC   ((usec_t)1000)
#define SECOND ((usec_t)1000000)

/* Seconds that have passed from then to now; 0 when then is ahead. */
static inline double seconds_between(usec_t then, usec_t now)
{
	return now > then ? (double)(now - then) / 1e6 : 0;
}
