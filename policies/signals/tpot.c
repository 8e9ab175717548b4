/* tpot.c - time per output token, as the engine's own page counts it. */
#include "policies/signals/signals.h"
#include "policies/state/facts.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	return rates_tpot(walk->facts->rates, candidate->target->id, walk->now, ret_value);
}

const struct signal signal_tpot = {
	.name = "tpot",
	.help = "Average time from one output token to the next.",
	.scale = SCALE_MINMAX,
	.level1 = LEVEL1_MEAN,
	.read = read,
};
