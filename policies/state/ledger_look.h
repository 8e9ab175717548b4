/* ledger_look.h - one look at a target's work, inline, for walks over many.
 *
 * What it reads lies in one cache line; a ring is turned only when its newest
 * bucket is over. Only ledger.c and
 * ledger_tell.c write what is in here. */
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
	usec_t drift_until;
	int32_t drift;
	/* What other agents have there: as they said, and what they are taken to have done since.
	 */
	float others_running, others_prefill, others_resident;
};

/* Of one target, as a look at it finds it. */
struct load_seen {
	uint32_t own; /* slots */
	double prefill_tokens, resident_tokens;
};

_Static_assert(sizeof(struct tally) <= 64, "a look at a target is one cache line");

struct history;

/* For ledger_tell(). */
struct told {
	uint64_t acquired; /* slots taken */
	uint64_t acquired_told;
	struct work work; /* as told last */
};

struct ledger {
	usec_t bucket_width;
	uint64_t buckets;
	uint32_t targets;
	struct tally *tallies;
	struct history *histories;
	struct told *told;
	uint64_t acquired;    /* slots taken, at all targets */
	bool others;          /* somebody told of them, ever: before, their numbers are 0 */
	float echo;           /* of a slot of ours: so many others take, elsewhere */
	uint32_t next_told;   /* where the next ledger_tell() begins */
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

/* Asked whether it is less, which it hardly ever is: whether it is more no processor foresees. */
static inline double not_negative(double number)
{
	return number < 0 ? 0 : number;
}

/* What a decision compares: ledger_running(), with the tokens of all agents; and our own slots. */
static inline double ledger_load(struct ledger *ledger, uint32_t target, usec_t now,
                                 struct load_seen *ret_seen)
{
	const struct tally *tally = ledger_tally(ledger, target, now);
	double running = (double)tally->sum.running;

	ret_seen->own = tally->sum.running;
	/* Signed: the processor has no other conversion. */
	ret_seen->prefill_tokens = (double)(int64_t)tally->sum.prefill;
	ret_seen->resident_tokens = (double)(int64_t)tally->sum.resident;
	if (ledger->others) {
		running += (double)tally->others_running;
		ret_seen->prefill_tokens =
		        not_negative(ret_seen->prefill_tokens + (double)tally->others_prefill);
		ret_seen->resident_tokens =
		        not_negative(ret_seen->resident_tokens + (double)tally->others_resident);
	}
	if (now <= tally->drift_until)
		running += tally->drift;
	return not_negative(running);
}
