/* apply.h - what other agents told becomes facts of ours, a few entries at a time.
 *
 * A batch is opened, stepped through over as many turns of the loop as it takes, and closed by
 * its end. What is of no target of ours, of another ladder, too old or no entry at all is
 * left out and counted: whatever a store holds, decisions are among our own candidates. */
#pragma once

#include "policies/state/facts.h"
#include "redis/keys.h"
#include "redis/wire.h"

struct apply;

/* What was read. Entries are counted by kind: those that changed something, or may have. */
struct apply_counts {
	uint64_t batches[WIRE_RESULT_COUNT]; /* of others and ours */
	uint64_t own;                        /* ours, read back */
	uint64_t repeated, late,
	        crowded; /* live: seen before; too old to count; of too many agents */
	uint64_t taken[WIRE_KIND_COUNT];
	uint64_t left[WIRE_KIND_COUNT]; /* nothing to us: known better, too old, another ladder */
	uint64_t strangers;             /* entries of targets that we do not have */
	uint64_t unknown, malformed;    /* entries */
};

/* agent: our own number. loads: what others have in flight counts here. NULL when out of
 * memory. */
MUST_CHECK struct apply *apply_new(struct facts *facts, uint64_t agent);
void apply_free(struct apply *apply);
void apply_set_loads(struct apply *apply, bool loads);

/* at: when it was told, by our clock. The bytes are borrowed until it is over. False:
 * there is nothing in it. */
bool apply_open(struct apply *apply, enum keys_stream stream, struct span bytes, usec_t at,
                usec_t now);
/* Takes so many entries at most; false: it is over. */
bool apply_step(struct apply *apply, uint32_t most, usec_t now);

const struct apply_counts *apply_counts(struct apply *apply);
