/* pattern.h - names with a star in them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policies/core/span.h"

/* How closely a name fits "x*", "*" or "x" itself: 0 not at all; more for a longer prefix,
 * most for the very name. */
size_t pattern_fit(const char *pattern, struct span name);

/* "r1-*-blue" fits "r1-s7-blue": a star, wherever it is, stands for any letters; without
 * one only the name itself fits. Nothing fits "". */
bool pattern_fits(const char *pattern, const char *name);
