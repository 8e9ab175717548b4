/* duration.h - times on a command line, as a policy writes them: "250ms", "10m". */
#pragma once

#include "policies/core/error.h"
#include "policies/core/time.h"

/* Up to a day. False, with a reason, when it is none. */
MUST_CHECK bool duration_read(const char *name, const char *text, usec_t *ret_time,
                              struct error *error);
