/* quota.h - what is left of a limit, as a client reads it. */
#pragma once

#include <stddef.h>

#include "policies/core/limit.h"

enum { QUOTA_TEXT_MAX = 64 }; /* with the NUL */

/* "LIMIT;LEFT;RESET", whole units and a time like 20ms, 8.64s or 6m0s, rounded to what can be
 * relied upon: less is left, and later. How many bytes, without the NUL. */
size_t quota_write(const struct limit_left *left, char ret_text[QUOTA_TEXT_MAX]);
