/* spill.h - when a target is too busy for what it holds: waiting there costs more
 * than the others would need to compute it once more. */
#pragma once

#include "policies/core/route.h"

/* What one who holds something is compared with. */
struct spill_bar {
	bool others;             /* somebody does not hold it */
	double idlest;           /* the least scored load of those */
	double idlest_matched;   /* bytes of the prompt that one has all the same */
	double running, prefill; /* means over the pool */
};

/* holds: who does; data is handed to it. Over those standing. */
struct spill_bar spill_bar_of(const struct walk *walk,
                              bool (*holds)(const struct candidate *candidate, const void *data),
                              const void *data);

/* The holder is over the bar. own: of its requests in flight, those that are no
 * reason to go elsewhere. */
bool spill_over(const struct walk *walk, const struct candidate *holder,
                const struct spill_bar *bar, double own);
