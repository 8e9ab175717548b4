/* peers.h - what other agents say they have at each target, as long as they say so.
 *
 * An agent tells the work of its own at each target, never what it heard of others. It does
 * so when it changes, and all that is not zero once a second, at least. Who is not heard of
 * for PEER_SILENCE is forgotten with all of its counts, and so is a count that is not
 * repeated for as long: its slots may never be given back by anybody.
 *
 * The sum over all agents is kept in the ledger (ledger_set_others()), where decisions read
 * it. Times are of this machine's clock: when the numbers were true, as well as that is
 * known, e.g. when they were received less their age in the store. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"
#include "policies/state/ledger.h"

struct peers;

enum { PEERS_MAX = 64 };
#define PEER_SILENCE (3 * SECOND)
/* Between two calls of peers_sweep(), about: what is kept of the past is counted in sweeps, and
 * more of them would reach less far back. */
#define PEERS_SWEEP (100 * MSEC)

/* The ledger must outlive it. targets: ids are below. NULL when out of memory. */
MUST_CHECK struct peers *peers_new(uint32_t targets, struct ledger *ledger);
void peers_free(struct peers *peers);

enum peer_news {
	PEER_NEWS, /* to be applied */
	PEER_SEEN, /* the agent's batch of this number, or a later one, was there before */
	PEER_OLD,  /* older than PEER_SILENCE: its loads mean nothing any more */
	PEER_FULL, /* there are PEERS_MAX others */
};

/* A batch of an agent that says how much it has: to be called first for each. agent: its
 * number, random at its start, not 0. sequence: of its batches, from 1 on. at: not later than
 * now. Only PEER_NEWS counts as heard. */
enum peer_news peers_hear(struct peers *peers, uint64_t agent, uint64_t sequence, usec_t at,
                          usec_t now);

/* What an agent has at a target, of its own. Any numbers: they are clamped. */
struct peer_load {
	struct work work;
	uint64_t acquired; /* slots taken there since the agent started */
};

/* Of the agent whose batch was PEER_NEWS last: absolute. */
void peers_load(struct peers *peers, uint64_t agent, uint32_t target, const struct peer_load *load);
/* It stops: nothing of it counts any more. */
void peers_bye(struct peers *peers, uint64_t agent);

/* Forgets who is silent, and a part of what is not repeated; each PEERS_SWEEP. How many agents
 * were forgotten. */
uint32_t peers_sweep(struct peers *peers, usec_t now);
/* The target's id now means somebody else. */
void peers_forget(struct peers *peers, uint32_t target);

/* What all others have there together. */
struct work peers_work(const struct peers *peers, uint32_t target);
/* Slots that others take there per second, lately: 1 / PEER_RATE_FADE for each, fading. */
#define PEER_RATE_FADE (2 * SECOND)
double peers_rate(const struct peers *peers, uint32_t target, usec_t now);
/* How old their counts are, seconds; of several agents the mean. 0 when there is none. */
double peers_age(const struct peers *peers, usec_t now);

struct peer_view {
	uint64_t agent;
	usec_t since, heard_at;
	uint64_t batches;  /* heard */
	uint64_t sequence; /* of the last */
	uint64_t loads;    /* targets at which it has something */
};
uint32_t peers_count(const struct peers *peers); /* known at present */
/* The i-th of peers_count(), in no order. */
struct peer_view peers_at(const struct peers *peers, uint32_t i);
