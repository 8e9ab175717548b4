/* ledger.c - a ring of time buckets for each target.
 *
 * Buckets are dropped when somebody looks, not by a timer: no wake-ups for idle
 * targets, and never more than one turn of the ring. A look at a target whose
 * newest bucket is current costs one comparison: what a decision over a thousand
 * replicas reads lies in one cache line each (ledger_look.h), the rest is kept apart. */
#include "policies/state/ledger_look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"

enum { READINGS = 3 };

static const double release_fade_s = 60;
static const double busy_fade_s = 60;

struct history {
	uint64_t expired, told; /* slots, since start; of these reported by a sweep */
	int64_t readings[READINGS];
	bool read; /* ever */
	uint32_t tenure;
	usec_t reconciled_at;
	double release_rate; /* as of released_at */
	usec_t released_at;
	double busy; /* as of busy_at */
	usec_t busy_at;
};

struct ledger *ledger_new(uint32_t targets, usec_t bucket_width, usec_t time_to_live)
{
	struct ledger *ledger;

	BUG_ON(targets == 0 || bucket_width == 0);
	BUG_ON(time_to_live == 0 || time_to_live % bucket_width != 0);
	ledger = calloc(1, sizeof(*ledger));
	if (!ledger)
		return NULL;
	ledger->bucket_width = bucket_width;
	ledger->buckets = time_to_live / bucket_width;
	ledger->targets = targets;
	ledger->tallies = calloc(targets, sizeof(*ledger->tallies));
	ledger->histories = calloc(targets, sizeof(*ledger->histories));
	ledger->told = calloc(targets, sizeof(*ledger->told));
	ledger->rings = calloc(targets * ledger->buckets, sizeof(*ledger->rings));
	if (!ledger->tallies || !ledger->histories || !ledger->told || !ledger->rings) {
		ledger_free(ledger);
		return NULL;
	}
	for (uint32_t i = 0; i < targets; i++)
		ledger->tallies[i].turns_at = bucket_width;
	return ledger;
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	free(ledger->rings);
	free(ledger->told);
	free(ledger->histories);
	free(ledger->tallies);
	free(ledger);
}

static struct bucket *bucket_at(struct ledger *ledger, uint32_t target, uint64_t number)
{
	return &ledger->rings[target * ledger->buckets + number % ledger->buckets];
}

/* What is left after a time; most times are short, and then this is as good as exp(). */
static double fading(double seconds)
{
	double x = seconds / busy_fade_s;

	return x < 1e-3 ? 1 - x * (1 - x / 2 * (1 - x / 3)) : exp(-x);
}

/* What ran until now counts before it changes. */
static void note_busy(struct ledger *ledger, uint32_t target, usec_t now)
{
	struct history *history = &ledger->histories[target];
	double left = fading(seconds_between(history->busy_at, now));

	history->busy =
	        history->busy * left + (double)ledger->tallies[target].sum.running * (1 - left);
	history->busy_at = now;
}

/* Number of the bucket that "now" falls in, as of the last turn. */
static uint64_t newest_of(const struct ledger *ledger, const struct tally *tally)
{
	return tally->turns_at / ledger->bucket_width - 1;
}

void ledger_turn(struct ledger *ledger, uint32_t target, usec_t now)
{
	struct tally *tally = &ledger->tallies[target];
	uint64_t last = newest_of(ledger, tally);
	uint64_t newest = now / ledger->bucket_width;
	uint64_t steps = newest - last;

	/* Of who has nothing the ring is not even looked at: it is memory that was never touched.
	 */
	for (uint64_t i = 1; i <= steps && i <= ledger->buckets && tally->sum.running > 0; i++) {
		struct bucket *old = bucket_at(ledger, target, last + i);

		if (old->running == 0)
			continue;
		note_busy(ledger, target, now);
		ledger->histories[target].expired += old->running;
		tally->sum.running -= old->running;
		tally->sum.awaiting -= old->awaiting;
		tally->sum.unseen -= old->unseen;
		tally->sum.prefill -= old->prefill;
		tally->sum.resident -= old->resident;
		*old = (struct bucket){ 0 };
	}
	tally->turns_at = (newest + 1) * ledger->bucket_width;
}

/* The slot's bucket is still there, and the target is who it was. */
static bool is_live(struct ledger *ledger, const struct slot *slot, usec_t now)
{
	const struct tally *tally = ledger_tally(ledger, slot->target, now);

	return newest_of(ledger, tally) - slot->bucket < ledger->buckets &&
	       slot->tenure == ledger->histories[slot->target].tenure;
}

static void give(struct bucket *bucket, const struct slot *slot)
{
	bucket->running++;
	bucket->awaiting += slot->awaiting;
	bucket->unseen += slot->unseen;
	bucket->prefill += slot->prefill;
	bucket->resident += slot->resident;
}

static void take(struct bucket *bucket, const struct slot *slot)
{
	BUG_ON(bucket->running == 0 || bucket->awaiting < slot->awaiting);
	BUG_ON(bucket->unseen < slot->unseen);
	BUG_ON(bucket->prefill < slot->prefill || bucket->resident < slot->resident);
	bucket->running--;
	bucket->awaiting -= slot->awaiting;
	bucket->unseen -= slot->unseen;
	bucket->prefill -= slot->prefill;
	bucket->resident -= slot->resident;
}

/* sign 1: the others do it, too; -1: they undo it. */
static void echo(struct ledger *ledger, const struct slot *slot, float sign)
{
	struct tally *tally = &ledger->tallies[slot->target];
	float times = sign * ledger->echo;

	tally->others_running += times;
	tally->others_prefill += times * (float)slot->prefill;
	tally->others_resident += times * (float)slot->resident;
}

/* Into the bucket whose number the slot has. */
static void enter(struct ledger *ledger, struct slot *slot, uint32_t target)
{
	slot->target = target;
	slot->tenure = ledger->histories[target].tenure;
	give(bucket_at(ledger, target, slot->bucket), slot);
	give(&ledger->tallies[target].sum, slot);
	if (ledger->echo > 0)
		echo(ledger, slot, 1);
}

static void leave(struct ledger *ledger, const struct slot *slot)
{
	take(bucket_at(ledger, slot->target, slot->bucket), slot);
	take(&ledger->tallies[slot->target].sum, slot);
	if (ledger->echo > 0)
		echo(ledger, slot, -1);
}

static void count_acquired(struct ledger *ledger, uint32_t target)
{
	ledger->told[target].acquired++;
	ledger->acquired++;
}

struct slot ledger_acquire(struct ledger *ledger, uint32_t target, uint32_t prefill,
                           uint32_t resident, usec_t now)
{
	struct slot slot = { .bucket = newest_of(ledger, ledger_tally(ledger, target, now)),
		             .prefill = prefill,
		             .resident = resident,
		             .awaiting = true };

	note_busy(ledger, target, now);
	count_acquired(ledger, target);
	enter(ledger, &slot, target);
	return slot;
}

struct slot ledger_acquire_unseen(struct ledger *ledger, uint32_t target, uint32_t prefill,
                                  uint32_t resident, usec_t now)
{
	struct slot slot = { .bucket = newest_of(ledger, ledger_tally(ledger, target, now)),
		             .prefill = prefill,
		             .resident = resident,
		             .awaiting = true,
		             .unseen = true };

	count_acquired(ledger, target);
	enter(ledger, &slot, target);
	return slot;
}

void ledger_first_byte(struct ledger *ledger, struct slot *slot, usec_t now)
{
	bool live = is_live(ledger, slot, now);

	if (live)
		leave(ledger, slot);
	slot->awaiting = false;
	slot->prefill = 0;
	if (live)
		enter(ledger, slot, slot->target);
}

void ledger_move(struct ledger *ledger, struct slot *slot, uint32_t target, usec_t now)
{
	uint64_t newest = newest_of(ledger, ledger_tally(ledger, target, now));

	note_busy(ledger, target, now);
	if (is_live(ledger, slot, now)) {
		note_busy(ledger, slot->target, now);
		leave(ledger, slot);
	} else {
		slot->bucket = newest;
	}
	if (slot->target != target)
		count_acquired(ledger, target);
	enter(ledger, slot, target);
}

bool ledger_release(struct ledger *ledger, struct slot slot, usec_t now)
{
	if (!is_live(ledger, &slot, now))
		return false;
	note_busy(ledger, slot.target, now);
	leave(ledger, &slot);
	ledger->histories[slot.target].release_rate =
	        ledger_release_rate(ledger, slot.target, now) + 1 / release_fade_s;
	ledger->histories[slot.target].released_at = now;
	return true;
}

double ledger_release_rate(const struct ledger *ledger, uint32_t target, usec_t now)
{
	const struct history *history;

	BUG_ON(target >= ledger->targets);
	history = &ledger->histories[target];
	return history->release_rate *
	       exp(-seconds_between(history->released_at, now) / release_fade_s);
}

double ledger_busy(struct ledger *ledger, uint32_t target, usec_t now)
{
	const struct tally *tally = ledger_tally(ledger, target, now);
	const struct history *history = &ledger->histories[target];
	double left = fading(seconds_between(history->busy_at, now));

	return history->busy * left + (double)tally->sum.running * (1 - left);
}

struct work ledger_work(struct ledger *ledger, uint32_t target, usec_t now)
{
	const struct bucket *sum = &ledger_tally(ledger, target, now)->sum;

	return (struct work){ .running = sum->running,
		              .awaiting = sum->awaiting,
		              .prefill_tokens = sum->prefill,
		              .resident_tokens = sum->resident };
}

/* Their common sign times the least of them; 0 when they disagree. */
static int32_t common_drift(const int64_t *readings)
{
	int64_t least = readings[0];

	for (int i = 1; i < READINGS; i++) {
		if ((readings[i] > 0) != (least > 0) || (readings[i] < 0) != (least < 0))
			return 0;
		if (llabs(readings[i]) < llabs(least))
			least = readings[i];
	}
	if (least < INT32_MIN)
		return INT32_MIN;
	return least > INT32_MAX ? INT32_MAX : (int32_t)least;
}

void ledger_reconcile(struct ledger *ledger, uint32_t target, uint32_t counted, usec_t now)
{
	struct tally *tally = ledger_tally(ledger, target, now);
	struct history *history = &ledger->histories[target];

	memmove(&history->readings[1], &history->readings[0],
	        (READINGS - 1) * sizeof(history->readings[0]));
	history->readings[0] = (int64_t)counted - (int64_t)(tally->sum.running - tally->sum.unseen);
	history->read = true;
	history->reconciled_at = now;
	tally->drift = common_drift(history->readings); /* those not read yet are 0 */
	tally->drift_until = now + LEDGER_DRIFT_FRESH;
}

uint32_t ledger_seen(struct ledger *ledger, uint32_t target, usec_t now)
{
	const struct tally *tally = ledger_tally(ledger, target, now);

	return tally->sum.running - tally->sum.unseen;
}

double ledger_drift(const struct ledger *ledger, uint32_t target)
{
	BUG_ON(target >= ledger->targets);
	return (double)ledger->tallies[target].drift;
}

bool ledger_reconciled(const struct ledger *ledger, uint32_t target, usec_t now, usec_t max_age)
{
	const struct history *history;

	BUG_ON(target >= ledger->targets);
	history = &ledger->histories[target];
	return history->read && now - history->reconciled_at <= max_age;
}

void ledger_set_others(struct ledger *ledger, uint32_t target, const struct others *others)
{
	struct tally *tally;

	BUG_ON(target >= ledger->targets);
	ledger->others |=
	        others->running != 0 || others->prefill_tokens != 0 || others->resident_tokens != 0;
	tally = &ledger->tallies[target];
	tally->others_running = (float)others->running;
	tally->others_prefill = (float)others->prefill_tokens;
	tally->others_resident = (float)others->resident_tokens;
}

void ledger_set_echo(struct ledger *ledger, double echo)
{
	ledger->others |= echo > 0;
	ledger->echo = (float)echo;
}

uint64_t ledger_acquired(const struct ledger *ledger)
{
	return ledger->acquired;
}

double ledger_running(struct ledger *ledger, uint32_t target, usec_t now)
{
	struct load_seen seen;

	return ledger_load(ledger, target, now, &seen);
}

uint64_t ledger_expired(const struct ledger *ledger, uint32_t target)
{
	BUG_ON(target >= ledger->targets);
	return ledger->histories[target].expired;
}

void ledger_sweep(struct ledger *ledger, usec_t now,
                  void (*on_expired)(void *data, uint32_t target, uint32_t slots), void *data)
{
	for (uint32_t i = 0; i < ledger->targets; i++) {
		struct history *history = &ledger->histories[i];
		uint64_t fresh;

		(void)ledger_tally(ledger, i, now);
		fresh = history->expired - history->told;
		history->told = history->expired;
		if (fresh > 0)
			on_expired(data, i, (uint32_t)fresh);
	}
}

void ledger_forget(struct ledger *ledger, uint32_t target)
{
	struct tally *tally;

	BUG_ON(target >= ledger->targets);
	tally = &ledger->tallies[target];
	memset(bucket_at(ledger, target, 0), 0, ledger->buckets * sizeof(*ledger->rings));
	*tally = (struct tally){ .turns_at = tally->turns_at };
	ledger->told[target] = (struct told){ .acquired = 0 };
	ledger->histories[target] =
	        (struct history){ .tenure = ledger->histories[target].tenure + 1 };
}
