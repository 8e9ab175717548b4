/* deadline.h - where a request stands among others by when it has to begin. */
#pragma once

#include "policies/core/route.h"

enum { DEADLINE_OFFSET_MAX_MS = 60000 };

/* Earliest deadline first: the time that the request may wait for a server and still be in
 * time at the candidate (of the whole pool of the walk) that would serve it soonest without
 * a queue. Of the objective of the first token, of the whole where only that is given, else of
 * the policy's default: or who has none would go before those who do. Within +-60 s. */
double deadline_offset_ms(const struct walk *walk);
