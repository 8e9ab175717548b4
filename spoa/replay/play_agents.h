/* play_agents.h - several agents, each with its part of the requests, that share what they know, or
 * nothing: what becomes of routing when one grows into many. */
#pragma once

#include "spoa/replay/play_agent.h"

enum { PLAY_AGENTS_MAX = 64 };

struct play_agents;

struct play_agents_settings {
	const struct policy *policy;
	const char *strategy; /* as a header asks for it; NULL: the policy's */
	uint32_t replicas;
	uint32_t agents; /* 1..PLAY_AGENTS_MAX */
	bool scraped;
	uint64_t seed;
	bool shared; /* bindings and loads; the others hear of them so much later: */
	usec_t lag;
};

/* NULL when out of memory. */
MUST_CHECK struct play_agents *play_agents_new(const struct play_agents_settings *settings);
void play_agents_free(struct play_agents *agents);
struct chooser play_agents_chooser(struct play_agents *agents);
struct play_agent_counts play_agents_counts(const struct play_agents *agents);
