/* agents.h - several agents over one fleet, each with its own facts, that tell each other what they
 * have in flight: each period what changed, each second all; and it arrives some time later. They
 * look back each PEERS_SWEEP, however often they tell. */
#pragma once

#include "policies/feedback.h"
#include "tests/policies/world.h"

enum { AGENTS_MAX = 8, WORDS_MAX = 65536, SAID_MAX = 64 };

/* What an agent said of one target. */
struct agents_word {
	uint32_t target;
	struct peer_load load;
};

struct agents_batch {
	uint32_t agent, count;
	uint64_t sequence;
	usec_t at;
	struct agents_word said[SAID_MAX];
};

struct agents {
	struct world *of[AGENTS_MAX];
	size_t count;
	usec_t now, lag;
	usec_t period; /* a divisor of a second; 100 ms */
	bool known;    /* how old it is: else it counts from when it arrives */
	bool silent;   /* they tell nothing */
	uint64_t sequence[AGENTS_MAX];
	struct agents_batch *batches; /* a ring: told, and heard later */
	uint32_t told, heard;
};

enum { BATCHES_MAX = 1024 };

static inline struct agents *agents_new(size_t count, size_t replicas, uint64_t seed)
{
	struct agents *agents = calloc(1, sizeof(*agents));

	assert_non_null(agents);
	agents->count = count;
	agents->period = 100 * MSEC;
	agents->batches = calloc(BATCHES_MAX, sizeof(*agents->batches));
	assert_non_null(agents->batches);
	for (size_t i = 0; i < count; i++) {
		agents->of[i] = world_new(1, replicas);
		world_decider(agents->of[i], seed * 100 + i);
	}
	agents->now = agents->of[0]->now;
	return agents;
}

static inline void agents_free(struct agents *agents)
{
	for (size_t i = 0; i < agents->count; i++)
		world_free(agents->of[i]);
	free(agents->batches);
	free(agents);
}

static inline bool agents_note(void *data, uint32_t target, const struct work *own,
                               uint64_t acquired)
{
	struct agents_batch *batch = data;

	if (batch->count == SAID_MAX)
		return false;
	batch->said[batch->count++] = (struct agents_word){ target, { *own, acquired } };
	return true;
}

static inline void agents_tell(struct agents *agents, bool whole)
{
	for (uint32_t i = 0; i < agents->count; i++) {
		struct agents_batch *batch = &agents->batches[agents->told % BATCHES_MAX];

		batch->count = 0;
		ledger_tell(agents->of[i]->facts->ledger, agents->now, whole, agents_note, batch);
		if (batch->count == 0)
			continue;
		batch->agent = i;
		batch->at = agents->now;
		batch->sequence = ++agents->sequence[i];
		agents->told++;
		assert_true(agents->told - agents->heard < BATCHES_MAX);
	}
}

static inline void agents_hear(struct agents *agents)
{
	for (; agents->heard < agents->told; agents->heard++) {
		const struct agents_batch *batch = &agents->batches[agents->heard % BATCHES_MAX];
		usec_t at = agents->known ? batch->at : agents->now;

		if (agents->now - batch->at < agents->lag)
			return;
		for (uint32_t i = 0; i < agents->count; i++) {
			struct peers *peers = agents->of[i]->facts->peers;

			if (i == batch->agent ||
			    peers_hear(peers, 1 + batch->agent, batch->sequence, at, agents->now) !=
			            PEER_NEWS)
				continue;
			for (uint32_t k = 0; k < batch->count; k++)
				peers_load(peers, 1 + batch->agent, batch->said[k].target,
				           &batch->said[k].load);
		}
	}
}

/* To that time, ms by ms as far as the others are concerned. */
static inline void agents_until(struct agents *agents, usec_t now)
{
	while (agents->now < now) {
		usec_t next = agents->now - agents->now % MSEC + MSEC;

		agents->now = next < now ? next : now;
		if (agents->silent || agents->now % MSEC != 0)
			continue;
		if (agents->now % agents->period == 0)
			agents_tell(agents, agents->now % SECOND == 0);
		for (size_t i = 0; i < agents->count && agents->now % PEERS_SWEEP == 0; i++)
			(void)peers_sweep(agents->of[i]->facts->peers, agents->now);
		agents_hear(agents);
	}
	for (size_t i = 0; i < agents->count; i++)
		agents->of[i]->now = agents->now;
}
