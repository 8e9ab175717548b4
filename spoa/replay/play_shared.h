/* play_shared.h - a store between agents that are played: what one learns the others hear, some
 * time later. What they have in flight is told each 100 ms, and all of it each second; bindings
 * with the next of these. */
#pragma once

#include "policies/state/facts.h"

struct play_shared;

/* lag: from when it is told to when it is heard. NULL when out of memory. */
MUST_CHECK struct play_shared *play_shared_new(uint32_t agents, usec_t lag);
void play_shared_free(struct play_shared *shared);
/* The agent of this number tells and hears from now on. facts must outlive it. Fleets are alike: a
 * target has one id in all of them. */
void play_shared_join(struct play_shared *shared, uint32_t agent, struct facts *facts);
/* Time goes on: what is due is told and heard. */
void play_shared_until(struct play_shared *shared, usec_t now);
