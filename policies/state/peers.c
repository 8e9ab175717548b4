/* peers.c - a table of agents by targets, and the sums over it.
 *
 * What an agent says replaces what it said before, so a sum changes by the difference and is
 * never worked out anew. Counts of one agent are dropped by the same way: it says nothing.
 *
 * A sum is as old as the way through the store. All agents see the same gap in it, and each would
 * fill it alone; so what we did ourselves since then the others are taken to have done as well, as
 * much more often as they take slots (the echo). Our own work of the last seconds is kept for
 * that. */
#include "policies/state/peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"

enum {
	RUNNING_MAX = 1 << 20,  /* of an agent at a target: more is no number but an attack */
	ACQUIRED_MAX = 1 << 20, /* from one time to the next */
	SWEPT_AT_ONCE = 4,      /* agents whose counts are looked at */
	PAST = 2 + PEER_SILENCE / PEERS_SWEEP, /* sweeps: as long as counts are believed */
};

/* Of an agent at a target. */
struct load {
	uint32_t running, awaiting, prefill, resident;
	uint64_t acquired; /* and 1; 0: never heard */
	usec_t at;
};

struct peer {
	uint64_t agent; /* 0: a place that is free */
	uint64_t sequence, batches;
	usec_t since, at;
	struct load *loads; /* by target */
};

struct rate_seen {
	double per_s; /* as of at */
	usec_t at;
};

/* Our own work at a target at some time. */
struct own {
	float running, prefill, resident;
};

struct peers {
	uint32_t targets, count;
	usec_t now; /* as last told */
	double echo;
	uint64_t acquired; /* by us, at the last sweep */
	struct rate_seen own_rate, others_rate;
	struct own *owns; /* a ring of PAST times, for all targets each */
	usec_t past[PAST];
	uint32_t latest; /* in the ring */
	uint32_t swept;  /* where the next sweep begins */
	struct ledger *ledger;
	struct peer of[PEERS_MAX];
	struct load *loads; /* PEERS_MAX x targets */
	struct work *sums;  /* by target */
	struct rate_seen *rates;
};

struct peers *peers_new(uint32_t targets, struct ledger *ledger)
{
	struct peers *peers = calloc(1, sizeof(*peers));

	BUG_ON(targets == 0);
	if (!peers)
		return NULL;
	peers->targets = targets;
	peers->ledger = ledger;
	peers->loads = calloc((size_t)PEERS_MAX * targets, sizeof(*peers->loads));
	peers->sums = calloc(targets, sizeof(*peers->sums));
	peers->rates = calloc(targets, sizeof(*peers->rates));
	peers->owns = calloc((size_t)PAST * targets, sizeof(*peers->owns));
	if (!peers->loads || !peers->sums || !peers->rates || !peers->owns) {
		peers_free(peers);
		return NULL;
	}
	for (size_t i = 0; i < PEERS_MAX; i++)
		peers->of[i].loads = &peers->loads[i * targets];
	return peers;
}

void peers_free(struct peers *peers)
{
	if (!peers)
		return;
	free(peers->owns);
	free(peers->rates);
	free(peers->sums);
	free(peers->loads);
	free(peers);
}

/* agent 0: a free place. NULL when there is none. */
static struct peer *find(struct peers *peers, uint64_t agent)
{
	for (size_t i = 0; i < PEERS_MAX; i++) {
		if (peers->of[i].agent == agent)
			return &peers->of[i];
	}
	return NULL;
}

static bool is_silent(usec_t at, usec_t now)
{
	return now > at && now - at > PEER_SILENCE;
}

enum peer_news peers_hear(struct peers *peers, uint64_t agent, uint64_t sequence, usec_t at,
                          usec_t now)
{
	struct peer *peer = agent == 0 ? NULL : find(peers, agent);

	if (peer && sequence <= peer->sequence)
		return PEER_SEEN;
	if (is_silent(at, now))
		return PEER_OLD;
	if (!peer) {
		peer = agent == 0 ? NULL : find(peers, 0);
		if (!peer)
			return PEER_FULL;
		peer->agent = agent;
		peer->since = at;
		peers->count++;
	}
	peer->sequence = sequence;
	peer->batches++;
	peer->at = at;
	peers->now = now;
	return PEER_NEWS;
}

static struct own own_now(const struct peers *peers, uint32_t target)
{
	struct work work = ledger_work(peers->ledger, target, peers->now);

	return (struct own){ (float)work.running, (float)work.prefill_tokens,
		             (float)work.resident_tokens };
}

/* Our own work as of when their counts were true; NULL: it is not known. */
static const struct own *own_then(const struct peers *peers)
{
	usec_t then = peers->now - (usec_t)(peers_age(peers, peers->now) * 1e6);

	for (uint32_t i = 0; i < PAST; i++) {
		uint32_t at = (peers->latest + PAST - i) % PAST;

		if (peers->past[at] == 0)
			return NULL;
		if (peers->past[at] <= then)
			return &peers->owns[(size_t)at * peers->targets];
	}
	return NULL;
}

/* What they said, and what they are taken to have done since. */
static void set_others(const struct peers *peers, uint32_t target, const struct own *then)
{
	const struct work *sum = &peers->sums[target];
	struct own now = own_now(peers, target);
	struct others others = { sum->running, (double)sum->prefill_tokens,
		                 (double)sum->resident_tokens };

	if (then) {
		others.running += peers->echo * (double)(now.running - then[target].running);
		others.prefill_tokens += peers->echo * (double)(now.prefill - then[target].prefill);
		others.resident_tokens +=
		        peers->echo * (double)(now.resident - then[target].resident);
	}
	ledger_set_others(peers->ledger, target, &others);
}

/* What is said there now counts in place of what was. */
static void replace(struct peers *peers, struct peer *peer, uint32_t target,
                    const struct load *load)
{
	struct load *before = &peer->loads[target];
	struct work *sum = &peers->sums[target];

	sum->running += load->running - before->running;
	sum->awaiting += load->awaiting - before->awaiting;
	sum->prefill_tokens += (uint64_t)load->prefill - before->prefill;
	sum->resident_tokens += (uint64_t)load->resident - before->resident;
	*before = *load;
	set_others(peers, target, own_then(peers));
}

static double faded(const struct rate_seen *rate, usec_t now)
{
	return rate->per_s *
	       exp(-seconds_between(rate->at, now) * (double)SECOND / (double)PEER_RATE_FADE);
}

static void count_rate(struct rate_seen *rate, uint64_t more, usec_t now)
{
	rate->per_s = faded(rate, now) + (double)more * (double)SECOND / (double)PEER_RATE_FADE;
	rate->at = now > rate->at ? now : rate->at;
}

static void note_rate(struct peers *peers, uint32_t target, const struct load *before,
                      const struct load *load)
{
	struct rate_seen *rate = &peers->rates[target];
	uint64_t more = load->acquired - before->acquired;

	if (before->acquired == 0)
		return;
	if (load->acquired < before->acquired)
		more = load->acquired; /* it counts anew */
	if (more > ACQUIRED_MAX)
		more = ACQUIRED_MAX;
	count_rate(rate, more, load->at);
	count_rate(&peers->others_rate, more, load->at);
}

static uint32_t at_most(uint64_t number, uint32_t most)
{
	return number < most ? (uint32_t)number : most;
}

void peers_load(struct peers *peers, uint64_t agent, uint32_t target, const struct peer_load *said)
{
	struct peer *peer = agent == 0 ? NULL : find(peers, agent);
	struct load load = {
		.running = at_most(said->work.running, RUNNING_MAX),
		.awaiting = at_most(said->work.awaiting, RUNNING_MAX),
		.prefill = at_most(said->work.prefill_tokens, UINT32_MAX),
		.resident = at_most(said->work.resident_tokens, UINT32_MAX),
		.acquired = said->acquired < UINT64_MAX ? said->acquired + 1 : UINT64_MAX,
	};

	BUG_ON(target >= peers->targets);
	if (!peer)
		return;
	load.at = peer->at;
	note_rate(peers, target, &peer->loads[target], &load);
	replace(peers, peer, target, &load);
}

static void forget_peer(struct peers *peers, struct peer *peer)
{
	struct load *loads = peer->loads;

	for (uint32_t i = 0; i < peers->targets; i++) {
		if (loads[i].acquired != 0)
			replace(peers, peer, i, &(struct load){ .running = 0 });
	}
	*peer = (struct peer){ .loads = loads };
	peers->count--;
}

void peers_bye(struct peers *peers, uint64_t agent)
{
	struct peer *peer = agent == 0 ? NULL : find(peers, agent);

	if (peer)
		forget_peer(peers, peer);
}

/* Its counts that it does not repeat; how many slots it took stays for the rate. */
static void drop_unsaid(struct peers *peers, struct peer *peer, usec_t now)
{
	for (uint32_t i = 0; i < peers->targets; i++) {
		const struct load *load = &peer->loads[i];

		if (load->running + load->awaiting > 0 && is_silent(load->at, now))
			replace(peers, peer, i, &(struct load){ .acquired = load->acquired });
	}
}

/* Of each slot that we take, how many the others take; not more than if all were as busy as we. */
static void set_echo(struct peers *peers)
{
	uint64_t acquired = ledger_acquired(peers->ledger);
	double others = faded(&peers->others_rate, peers->now), own;

	count_rate(&peers->own_rate, acquired - peers->acquired, peers->now);
	peers->acquired = acquired;
	own = peers->own_rate.per_s;
	peers->echo = others < own * peers->count ? others / own : peers->count;
	ledger_set_echo(peers->ledger, peers->echo);
}

static void look_back(struct peers *peers)
{
	const struct own *then;
	struct own *now;

	peers->latest = (peers->latest + 1) % PAST;
	peers->past[peers->latest] = peers->now;
	now = &peers->owns[(size_t)peers->latest * peers->targets];
	for (uint32_t i = 0; i < peers->targets; i++)
		now[i] = own_now(peers, i);
	then = own_then(peers);
	for (uint32_t i = 0; i < peers->targets; i++)
		set_others(peers, i, then);
}

/* Nobody is left: nothing is taken to be done by anybody. */
static void be_alone(struct peers *peers)
{
	peers->echo = 0;
	peers->latest = 0;
	memset(peers->past, 0, sizeof(peers->past));
	ledger_set_echo(peers->ledger, 0);
	for (uint32_t i = 0; i < peers->targets; i++)
		set_others(peers, i, NULL);
}

uint32_t peers_sweep(struct peers *peers, usec_t now)
{
	uint32_t gone = 0, looked = 0;

	peers->now = now;

	for (size_t i = 0; i < PEERS_MAX && peers->count > 0; i++) {
		struct peer *peer = &peers->of[i];

		if (peer->agent == 0 || !is_silent(peer->at, now))
			continue;
		forget_peer(peers, peer);
		gone++;
	}
	for (size_t i = 0; i < PEERS_MAX && looked < SWEPT_AT_ONCE && peers->count > 0; i++) {
		struct peer *peer = &peers->of[peers->swept];

		peers->swept = (peers->swept + 1) % PEERS_MAX;
		if (peer->agent == 0)
			continue;
		drop_unsaid(peers, peer, now);
		looked++;
	}
	if (peers->count > 0) {
		set_echo(peers);
		look_back(peers);
	} else if (peers->past[peers->latest] != 0) {
		be_alone(peers);
	}
	return gone;
}

void peers_forget(struct peers *peers, uint32_t target)
{
	BUG_ON(target >= peers->targets);
	for (size_t i = 0; i < PEERS_MAX; i++)
		peers->of[i].loads[target] = (struct load){ .running = 0 };
	peers->sums[target] = (struct work){ .running = 0 };
	peers->rates[target] = (struct rate_seen){ .at = 0 };
	for (size_t i = 0; i < PAST; i++)
		peers->owns[i * peers->targets + target] = (struct own){ .running = 0 };
	ledger_set_others(peers->ledger, target, &(struct others){ .running = 0 });
}

struct work peers_work(const struct peers *peers, uint32_t target)
{
	BUG_ON(target >= peers->targets);
	return peers->sums[target];
}

double peers_rate(const struct peers *peers, uint32_t target, usec_t now)
{
	BUG_ON(target >= peers->targets);
	return peers->rates[target].per_s > 0 ? faded(&peers->rates[target], now) : 0;
}

double peers_age(const struct peers *peers, usec_t now)
{
	double sum = 0;

	for (size_t i = 0; i < PEERS_MAX && peers->count > 0; i++) {
		if (peers->of[i].agent != 0 && now > peers->of[i].at)
			sum += seconds_between(peers->of[i].at, now);
	}
	return peers->count > 0 ? sum / peers->count : 0;
}

uint32_t peers_count(const struct peers *peers)
{
	return peers->count;
}

static uint32_t loads_of(const struct peers *peers, const struct peer *peer)
{
	uint32_t loads = 0;

	for (uint32_t i = 0; i < peers->targets; i++)
		loads += peer->loads[i].running > 0;
	return loads;
}

struct peer_view peers_at(const struct peers *peers, uint32_t i)
{
	const struct peer *peer = peers->of;

	BUG_ON(i >= peers->count);
	while (peer->agent == 0 || i-- > 0)
		peer++;
	return (struct peer_view){ .agent = peer->agent,
		                   .since = peer->since,
		                   .heard_at = peer->at,
		                   .batches = peer->batches,
		                   .sequence = peer->sequence,
		                   .loads = loads_of(peers, peer) };
}
