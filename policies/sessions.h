/* sessions.h - a session's pin through the life of a request: held when it is
 * decided, moved when somebody else served, let go at its end. */
#pragma once

#include "policies/learn.h"
#include "policies/reserve.h"

/* Notes in the flight what is to be done later; where the session is pinned nowhere,
 * pins it to the replica that was chosen. */
void sessions_reserve(struct facts *facts, const struct reservation *reservation,
                      const struct decision *decision, struct flight *flight);

/* A good answer came from here. The pin follows, unless it has moved meanwhile. */
void sessions_served(struct facts *facts, struct flight *flight, const struct serving *by,
                     usec_t now);

/* The client is given an id, and it is another than that of the chosen one. */
bool sessions_renamed(const struct flight *flight, const struct serving *by);
