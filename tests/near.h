/* near.h - numbers that are equal but for their last digits. NaN is near nothing. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* At most so far; 0 is equal. */
static inline void assert_close(double value, double expected, double most)
{
	if (!(fabs(value - expected) <= most))
		fail_msg("%.12g is not %.12g", value, expected);
}

/* Less far than that. */
static inline void assert_within(double value, double expected, double within)
{
	if (!(fabs(value - expected) < within))
		fail_msg("%.12g is not %.12g", value, expected);
}

/* The six digits of the worked examples. */
static inline void assert_near(double value, double expected)
{
	assert_within(value, expected, 1e-6);
}
