/* ledger_look.h - one look at a target's work, inline, for walks over many.
 *
 * What it reads lies in one cache line; a ring is turned only when its newest
 * bucket is over. Only ledger.c writes what is in here. */
#pragma once

#include "policies/core/bug.h"
#include "policies/state/ledger.h"

struct bucket {
	uint32_t running, awaiting;
	uint32_t unseen; /* of running */
	uint64_t prefill, resident;
};

struct tally {
	usec_t turns_at;   /* end of the newest bucket: nothing to do before */
	struct bucket sum; /* of the ring */
	int64_t drift;
	usec_t drift_until;
	uint64_t newest; /* number of the bucket that "now" falls in, as of the last turn */
};

_Static_assert(sizeof(struct tally) <= 64, "a look at a target is one cache line");

struct history;

struct ledger {
	usec_t bucket_width;
	uint64_t buckets;
	uint32_t targets;
	struct tally *tallies;
	struct history *histories;
	struct bucket *rings; /* targets x buckets */
};

/* Drop every bucket whose place is taken by a newer one. */
void ledger_turn(struct ledger *ledger, uint32_t target, usec_t now);

/* As of now. */
static inline struct tally *ledger_tally(struct ledger *ledger, uint32_t target, usec_t now)
{
	struct tally *tally;

	BUG_ON(target >= ledger->targets);
	tally = &ledger->tallies[target];
	if (__builtin_expect(now >= tally->turns_at, 0))
		ledger_turn(ledger, target, now);
	return tally;
}

/* ledger_running() and ledger_work() in one. */
static inline double ledger_load(struct ledger *ledger, uint32_t target, usec_t now,
                                 struct work *ret_work)
{
	const struct tally *tally = ledger_tally(ledger, target, now);
	int64_t running = tally->sum.running;

	ret_work->running = tally->sum.running;
	ret_work->awaiting = tally->sum.awaiting;
	ret_work->prefill_tokens = tally->sum.prefill;
	ret_work->resident_tokens = tally->sum.resident;
	if (now <= tally->drift_until)
		running += tally->drift;
	return running > 0 ? (double)running : 0;
}
