/* patience.h - a client that says how long it waits for its first byte.
 *
 * T = base + slope x (prompt tokens waiting there + those of this prompt to compute), by
 * the line the target taught (policies/state/ttft_fit.h); over patience if something waits
 * there, T is longer than the client waits, and the line is to be trusted. Where nothing
 * waits there is no queue to bound, however long the prompt. Of replicas only. */
#pragma once

#include "policies/core/route.h"

/* False when nobody can be over it: cheap, since most clients say ten minutes. */
bool patience_matters(const struct walk *walk);

/* By how many ms the candidate would be too late; 0 if it would not. */
double patience_excess_ms(const struct walk *walk, const struct candidate *candidate);
