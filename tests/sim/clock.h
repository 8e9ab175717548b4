/* clock.h - the monotonic clock, in microseconds. */
#pragma once

#include <stdint.h>

int64_t clock_us(void);
