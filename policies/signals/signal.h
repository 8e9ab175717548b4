/* signal.h - one number about a candidate, in its own unit.
 *
 * A signal only reads what the load and prefix stages have put into the
 * candidate. Comparing candidates is the score stage's business, and how much a
 * signal counts is the strategy's. */
#pragma once

#include <stdbool.h>

#include "policies/core/route.h"

enum scale {
	SCALE_MINMAX,  /* only the others tell what is much */
	SCALE_NATURAL, /* 0..1 as it stands */
};

/* How an instance reads the signal. */
enum level1 {
	LEVEL1_OWN,   /* like a replica: the stages have filled the candidate */
	LEVEL1_LEAST, /* least of its usable replicas, candidate->members */
};

struct signal {
	const char *name;
	const char *help;
	enum scale scale;
	double min_spread; /* SCALE_MINMAX: a difference smaller than this is not a whole one */
	bool more_is_better;
	enum level1 level1;
	bool reads_load; /* candidate->load must have been filled */
	/* False, and nothing stored, when not known. */
	bool (*read)(const struct walk *walk, const struct candidate *candidate, double *ret_value);
};
