/* play_agents.c - requests go to the agents in turn; each hears of its own. */
#include "spoa/replay/play_agents.h"

#include "spoa/replay/play_shared.h"

#include <stdlib.h>

struct play_agents {
	uint32_t count;
	struct play_shared *shared; /* NULL: nothing is */
	struct play_agent *agents[PLAY_AGENTS_MAX];
	struct chooser choosers[PLAY_AGENTS_MAX];
};

static const struct chooser *of(const struct play_agents *agents, size_t request)
{
	return &agents->choosers[request % agents->count];
}

static void until(const struct play_agents *agents, usec_t now)
{
	if (agents->shared)
		play_shared_until(agents->shared, now);
}

static uint32_t choose(void *data, const struct play *play, size_t request, usec_t now)
{
	const struct chooser *chooser = of(data, request);

	until(data, now);
	return chooser->choose(chooser->data, play, request, now);
}

static void first_byte(void *data, size_t request, uint32_t replica, usec_t now)
{
	const struct chooser *chooser = of(data, request);

	until(data, now);
	chooser->first_byte(chooser->data, request, replica, now);
}

static void done(void *data, size_t request, uint32_t replica, usec_t now, usec_t elapsed)
{
	const struct chooser *chooser = of(data, request);

	until(data, now);
	chooser->done(chooser->data, request, replica, now, elapsed);
}

static void second(void *data, const struct play *play, usec_t now)
{
	const struct play_agents *agents = data;

	until(agents, now);
	for (uint32_t i = 0; i < agents->count; i++)
		agents->choosers[i].second(agents->choosers[i].data, play, now);
}

struct play_agents *play_agents_new(const struct play_agents_settings *settings)
{
	struct play_agents *agents = calloc(1, sizeof(*agents));

	if (agents && settings->shared) {
		agents->shared = play_shared_new(settings->agents, settings->lag);
		if (!agents->shared) {
			free(agents);
			return NULL;
		}
	}
	for (uint32_t i = 0; agents && i < settings->agents; i++) {
		agents->agents[i] =
		        play_agent_new(settings->policy, settings->strategy, settings->replicas,
		                       settings->scraped, settings->seed + i);
		if (!agents->agents[i]) {
			play_agents_free(agents);
			return NULL;
		}
		agents->choosers[i] = play_agent_chooser(agents->agents[i]);
		agents->count++;
		if (agents->shared)
			play_shared_join(agents->shared, i, play_agent_facts(agents->agents[i]));
	}
	return agents;
}

void play_agents_free(struct play_agents *agents)
{
	if (!agents)
		return;
	for (uint32_t i = 0; i < agents->count; i++)
		play_agent_free(agents->agents[i]);
	play_shared_free(agents->shared);
	free(agents);
}

struct chooser play_agents_chooser(struct play_agents *agents)
{
	return (struct chooser){ agents, choose, first_byte, done, second };
}

struct play_agent_counts play_agents_counts(const struct play_agents *agents)
{
	struct play_agent_counts sum = { 0 };

	for (uint32_t i = 0; i < agents->count; i++) {
		struct play_agent_counts each = play_agent_counts(agents->agents[i]);

		sum.spilled += each.spilled;
		sum.gated += each.gated;
		sum.degraded += each.degraded;
		sum.unrouted += each.unrouted;
	}
	return sum;
}
