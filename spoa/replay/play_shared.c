/* play_shared.c - one ring of words in the order in which they were told.
 *
 * Each load is a batch of its own. Bounded: a word that does not fit is lost, as it would be. */
#include "spoa/replay/play_shared.h"

#include <stdlib.h>
#include <string.h>

#include "policies/heard.h"

enum { WORDS = 16384 };

static const usec_t tick = 100 * MSEC;

struct word {
	uint32_t agent, target;
	usec_t at;
	struct peer_load load;
	uint32_t blocks; /* of chain; 0: it is a load */
	uint64_t chain[LADDER_BLOCKS_MAX];
};

struct member {
	struct play_shared *shared;
	uint32_t number;
	struct facts *facts;
	struct share share;
};

struct play_shared {
	uint32_t agents;
	usec_t lag, now, ticked_at;
	uint64_t told, heard; /* words */
	struct member *members;
	struct word *words;
};

struct play_shared *play_shared_new(uint32_t agents, usec_t lag)
{
	struct play_shared *shared = calloc(1, sizeof(*shared));

	if (!shared)
		return NULL;
	shared->agents = agents;
	shared->lag = lag;
	shared->members = calloc(agents, sizeof(*shared->members));
	shared->words = calloc(WORDS, sizeof(*shared->words));
	if (shared->members && shared->words)
		return shared;
	play_shared_free(shared);
	return NULL;
}

void play_shared_free(struct play_shared *shared)
{
	if (!shared)
		return;
	free(shared->words);
	free(shared->members);
	free(shared);
}

/* NULL when there is no room. */
static struct word *next_word(const struct member *member, uint32_t target)
{
	struct play_shared *shared = member->shared;
	struct word *word = &shared->words[shared->told % WORDS];

	if (shared->told - shared->heard == WORDS)
		return NULL;
	shared->told++;
	word->agent = member->number;
	word->target = target;
	word->at = shared->now;
	word->blocks = 0;
	return word;
}

static void on_bound(void *data, uint32_t holder, const uint64_t *chain, uint32_t blocks,
                     const struct ladder *ladder)
{
	struct word *word = next_word(data, holder);

	(void)ladder;
	if (!word)
		return;
	word->blocks = blocks;
	memcpy(word->chain, chain, blocks * sizeof(*chain));
}

static void on_chain(void *data, uint32_t holder, const uint64_t *chain, uint32_t blocks,
                     const struct ladder *ladder)
{
	(void)data, (void)holder, (void)chain, (void)blocks, (void)ladder;
}

static void on_target(void *data, uint32_t target)
{
	(void)data, (void)target;
}

static void on_pinned(void *data, const struct pin_key *key, uint32_t from, uint32_t to)
{
	(void)data, (void)key, (void)from, (void)to;
}

static void on_ejected(void *data, uint32_t target, usec_t length)
{
	(void)data, (void)target, (void)length;
}

static const struct share_calls calls = { on_bound,  on_chain,   on_target,
	                                  on_pinned, on_ejected, on_target };

void play_shared_join(struct play_shared *shared, uint32_t agent, struct facts *facts)
{
	struct member *member = &shared->members[agent];

	*member = (struct member){ .shared = shared, .number = agent, .facts = facts };
	member->share = (struct share){ &calls, member };
	facts->share = &member->share;
}

static bool tell_load(void *data, uint32_t target, const struct work *own, uint64_t acquired)
{
	struct word *word = next_word(data, target);

	if (word)
		word->load = (struct peer_load){ *own, acquired };
	return word != NULL;
}

static void tell(struct play_shared *shared)
{
	bool whole = shared->now % SECOND == 0;

	for (uint32_t i = 0; i < shared->agents; i++)
		ledger_tell(shared->members[i].facts->ledger, shared->now, whole, tell_load,
		            &shared->members[i]);
	for (uint32_t i = 0; i < shared->agents; i++)
		(void)peers_sweep(shared->members[i].facts->peers, shared->now);
}

static void hear_word(const struct play_shared *shared, const struct word *word,
                      struct facts *facts)
{
	const struct ladder *ladder = &facts->policy->ladder;
	struct heard_chain heard = {
		word->target, word->chain, word->blocks, { ladder->id, strlen(ladder->id) }
	};

	if (word->blocks > 0)
		(void)heard_bound(facts, &heard, word->at, shared->now);
	else if (peers_hear(facts->peers, 1 + word->agent, shared->heard + 1, word->at,
	                    shared->now) == PEER_NEWS)
		peers_load(facts->peers, 1 + word->agent, word->target, &word->load);
}

/* A word waits for the next tick, and then it is on its way. */
static usec_t due(const struct play_shared *shared, const struct word *word)
{
	return (word->at + tick - 1) / tick * tick + shared->lag;
}

static void hear(struct play_shared *shared)
{
	for (; shared->heard < shared->told; shared->heard++) {
		const struct word *word = &shared->words[shared->heard % WORDS];

		if (due(shared, word) > shared->now)
			return;
		for (uint32_t i = 0; i < shared->agents; i++)
			if (i != word->agent)
				hear_word(shared, word, shared->members[i].facts);
	}
}

void play_shared_until(struct play_shared *shared, usec_t now)
{
	if (shared->ticked_at == 0)
		shared->ticked_at = now / tick * tick;
	while (shared->ticked_at + tick <= now) {
		shared->ticked_at += tick;
		shared->now = shared->ticked_at;
		tell(shared);
		hear(shared);
	}
	shared->now = now;
	hear(shared);
}
