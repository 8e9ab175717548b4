/* signal.h - one number about a candidate, in its own unit.
 *
 * A signal only reads what the load and prefix stages have put into the
 * candidate. Comparing candidates is the score stage's business, and how much a
 * signal counts is the strategy's. */
#pragma once

#include <stdbool.h>

#include "policies/core/policy.h"
#include "policies/core/route.h"

enum scale {
	SCALE_MINMAX,  /* only the others tell what is much */
	SCALE_NATURAL, /* 0..1 as it stands */
};

/* How an instance reads the signal. */
enum level1 {
	LEVEL1_OWN,   /* like a replica: the stages have filled the candidate */
	LEVEL1_LEAST, /* of its usable replicas, candidate->members, of which it is known: the least
	               */
	LEVEL1_MOST,
	LEVEL1_MEAN,
};

struct signal {
	const char *name;
	const char *help;
	enum scale scale;
	double min_spread; /* SCALE_MINMAX: a difference smaller than this is not a whole one */
	double full;       /* SCALE_NATURAL: the value that counts as a whole one; 0: 1 */
	bool more_is_better;
	enum level1 level1;
	bool reads_load;    /* candidate->load must have been filled */
	bool reads_session; /* walk->session must have been looked up */
	/* False, and nothing stored, when not known. Exactly one of read and read_all is set. */
	bool (*read)(const struct walk *walk, const struct candidate *candidate, double *ret_value);
	/* Of one that looks at all of them together: the values of walk->pool[0..standing), not
	 * a number (NAN) where not known. Always LEVEL1_OWN. */
	void (*read_all)(const struct walk *walk, double *ret_values);
};

/* An agent that never chooses replicas knows no work of them, only the instance's own; but
 * what engines tell of themselves it knows. */
static inline bool signal_reads_members(const struct signal *signal, enum levels_mode levels)
{
	return signal->level1 == LEVEL1_MEAN ||
	       (signal->level1 != LEVEL1_OWN && levels == LEVELS_BOTH);
}
