/* ledger.h - how much work each target has, as far as we know.
 *
 * Who acquires a slot releases it once. Should a release never come - a lost
 * event, a restarted HAProxy - the slot expires: counts are kept per time
 * bucket, and a bucket that is one time to live old is dropped whole. A slot
 * lives at least one time to live less one bucket.
 *
 * Four sums per target: requests, requests without a first byte, uncached
 * prompt tokens of those, and resident tokens of all. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/target.h"
#include "policies/core/time.h"

struct ledger;

/* A receipt; plain data, free to copy, to be released once. */
struct slot {
	uint32_t target;
	uint32_t tenure; /* of the target's id: a slot of an earlier holder of the id is gone */
	uint64_t bucket;
	uint32_t prefill;  /* U: tokens still waiting for the first byte; 0 after it */
	uint32_t resident; /* P + O tokens */
	bool awaiting;     /* no first byte yet */
	bool unseen;       /* HAProxy has no session of it there */
};

struct work {
	uint32_t running;
	uint32_t awaiting;
	uint64_t prefill_tokens;
	uint64_t resident_tokens;
};

/* NULL when out of memory. The only allocation. At least one target; the time to
 * live is a multiple of the width. Target ids are below targets. */
MUST_CHECK struct ledger *ledger_new(uint32_t targets, usec_t bucket_width, usec_t time_to_live);
void ledger_free(struct ledger *ledger);

/* Time never runs backwards from one call to the next. */
struct slot ledger_acquire(struct ledger *ledger, uint32_t target, uint32_t prefill,
                           uint32_t resident, usec_t now);

/* The same for work that HAProxy does not see: somebody else asks the target for it, so
 * what HAProxy counts there is short of it. */
struct slot ledger_acquire_unseen(struct ledger *ledger, uint32_t target, uint32_t prefill,
                                  uint32_t resident, usec_t now);

/* The first byte came: the request waits no more. Counts nothing when it had
 * already come or the bucket is gone. Updates the receipt. */
void ledger_first_byte(struct ledger *ledger, struct slot *slot, usec_t now);

/* The request is served by another target: its counts move there, age kept. A
 * slot whose bucket is gone is acquired anew. Updates the receipt. */
void ledger_move(struct ledger *ledger, struct slot *slot, uint32_t target, usec_t now);

/* False when the slot had expired before it was released. */
bool ledger_release(struct ledger *ledger, struct slot slot, usec_t now);

/* Own work of the target: never counts of others, never drift. */
struct work ledger_work(struct ledger *ledger, uint32_t target, usec_t now);

/* What HAProxy counts for this target (scur + qcur over all processes we poll).
 * Once three readings in a row differ from what it can see of the ledger in one direction, the
 * least of the three differences corrects ledger_running(). A correction
 * is believed for LEDGER_DRIFT_FRESH after its reading. */
#define LEDGER_DRIFT_FRESH (3 * SECOND)
void ledger_reconcile(struct ledger *ledger, uint32_t target, uint32_t counted, usec_t now);
/* Own requests that HAProxy has a session of. */
uint32_t ledger_seen(struct ledger *ledger, uint32_t target, usec_t now);
/* As of the last reading, however old. */
double ledger_drift(const struct ledger *ledger, uint32_t target);
/* The reconciliation is younger than max_age. */
bool ledger_reconciled(const struct ledger *ledger, uint32_t target, usec_t now, usec_t max_age);

/* What other agents have there, all together, as far as is known at this moment. */
struct others {
	double running, prefill_tokens, resident_tokens;
};
void ledger_set_others(struct ledger *ledger, uint32_t target, const struct others *others);
/* Until it is set anew the others are taken to do as we do, echo times as much: for they see the
 * same targets, and each fills the same gap, if it does not reckon with the others' doing so. 0,
 * as at the beginning: they do nothing. */
void ledger_set_echo(struct ledger *ledger, double echo);
/* Slots taken at all targets since the ledger was made; a replica's and its instance's are two. */
uint64_t ledger_acquired(const struct ledger *ledger);

/* max(0, own + others + drift): what routing compares. */
double ledger_running(struct ledger *ledger, uint32_t target, usec_t now);

/* Each target whose own work is not as it was told last, or, with whole, is not nothing; from one
 * call to the next in turn, so that a reader with little room comes to all of them. acquired:
 * slots taken there since the ledger was made. Ends when tell() says it has no room: that one
 * is not told. */
void ledger_tell(struct ledger *ledger, usec_t now, bool whole,
                 bool (*tell)(void *data, uint32_t target, const struct work *own,
                              uint64_t acquired),
                 void *data);

/* Releases per second, decayed over a minute, as of now. */
double ledger_release_rate(const struct ledger *ledger, uint32_t target, usec_t now);

/* Mean of the slots held lately: B = B e + running (1 - e), e = exp(-time / 60 s), at each
 * change. Of one request at a time it is the share of time that was busy. */
double ledger_busy(struct ledger *ledger, uint32_t target, usec_t now);

/* Slots of this target that expired since the ledger was made. */
uint64_t ledger_expired(const struct ledger *ledger, uint32_t target);

/* Turn all rings to now. Each target that lost slots since the last call is
 * reported once, for a warning; the gauge is then true again. Call it about once
 * a bucket width. */
void ledger_sweep(struct ledger *ledger, usec_t now,
                  void (*on_expired)(void *data, uint32_t target, uint32_t slots), void *data);

/* The target's id now means somebody else: counts, drift and expiry start anew;
 * slots held under the id until now are as good as expired. */
void ledger_forget(struct ledger *ledger, uint32_t target);
