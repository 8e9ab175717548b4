/* check_spop.h - asks an agent as HAProxy's own health check does: does it serve?
 *
 * For containers, whose health is a command, and for whoever cannot read a page. */
#pragma once

#include "policies/core/error.h"

enum { CHECK_SPOP_DEADLINE_MS = 2000 };

/* "host:port", "unix:/path" or "/path". An exit code: EXIT_OK; EXIT_UNREACHABLE when nobody
 * answers in time, EXIT_FAILED when what answers is no agent or says it is going, with a
 * reason. */
MUST_CHECK int check_spop(const char *address, struct error *error);
