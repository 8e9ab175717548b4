/* median.h - the middle of some numbers. */
#pragma once

#include <stddef.h>

/* Puts the numbers in another order. Of an even count the mean of the middle two. */
double median(double *numbers, size_t count);
