/* clock.h - the two clocks of the process, read anew at each call. */
#pragma once

#include "policies/core/time.h"

usec_t clock_monotonic(void);
/* Microseconds since 1970, for people and for files. */
usec_t clock_wall(void);
