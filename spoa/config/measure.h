/* measure.h - the numbers of option rows, as an operator would write them. */
#pragma once

#include "policies/core/option.h"

enum { MEASURE_MAX = 40 };

/* 1800000000 of a duration is "30m", 4096 of a size "4k", 1 of a bool "true", 0 of a
 * choice its first name, 65536 of a count "65536". */
void measure_show(const struct option *option, double value, char ret_text[MEASURE_MAX]);
/* "duration", "number", ... */
const char *measure_type(const struct option *option);
