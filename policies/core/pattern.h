/* pattern.h - names that may end in a star. */
#pragma once

#include <stddef.h>

#include "policies/core/span.h"

/* How closely a name fits "x*", "*" or "x" itself: 0 not at all; more for a longer prefix,
 * most for the very name. */
size_t pattern_fit(const char *pattern, struct span name);
