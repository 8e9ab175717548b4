/* play_agent.h - our own decider as one who chooses: the library that the agent runs,
 * told what HAProxy would tell it. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/replay/play.h"

struct facts;
struct play_agent;

/* Replicas are servers of one instance. strategy: as a header of the client would ask for
 * it, so that it is blended as there; NULL: what the policy says. scraped: engine pages
 * are read once a second. Policy and text must outlive it. NULL when out of memory. */
MUST_CHECK struct play_agent *play_agent_new(const struct policy *policy, const char *strategy,
                                             uint32_t replicas, bool scraped, uint64_t seed);
void play_agent_free(struct play_agent *agent);
/* To be played. Good as long as the agent is. */
struct chooser play_agent_chooser(struct play_agent *agent);

/* What it knows, to be told or told of. */
struct facts *play_agent_facts(struct play_agent *agent);

/* What it did, beside the engines' own results. */
struct play_agent_counts {
	uint64_t spilled, gated, degraded, unrouted;
};
struct play_agent_counts play_agent_counts(const struct play_agent *agent);
/* Slots that are still held, and places they are counted at: 0 when all has ended. */
uint64_t play_agent_held(const struct play_agent *agent, usec_t now);
