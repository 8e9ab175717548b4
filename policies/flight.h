/* flight.h - the slots of an open request: where they are, and that they are
 * released once. Of the feedback only. */
#pragma once

#include "policies/learn.h"

/* Targets whose id means somebody else since the decision become TARGET_NONE. */
void flight_refresh(const struct facts *facts, struct flight *flight);

/* The first byte came from here: the slots move there, or are taken there where
 * none is held, and nothing waits any more. */
void flight_follow(struct facts *facts, struct flight *flight, const struct serving *by,
                   usec_t now);

/* The prompt is computed: its replica, if it was another's than the one that serves,
 * has no more of it. Once; nothing without a pair. good: an answer came of it. */
void flight_prefilled(struct facts *facts, struct flight *flight, enum release_source why,
                      bool good, usec_t now);

/* Where its slots are. */
struct serving flight_held(const struct facts *facts, const struct flight *flight);

/* All that is still held is given back, and the chosen engine has nothing waiting
 * of it. False when a slot had expired. */
bool flight_release(struct facts *facts, struct flight *flight, enum release_source source,
                    usec_t now);

/* Ends a request whose end line will not come: its slots are released, and what it
 * bound without a first byte is withdrawn. Nothing when it has ended. */
void flight_close(struct facts *facts, struct flight_id id, enum release_source why, usec_t now);

struct target_counters *counters_of(struct facts *facts, uint32_t target);
