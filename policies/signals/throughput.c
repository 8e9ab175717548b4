/* throughput.c - tokens that the engine works through a second, whoever sent them.
 *
 * 2 x prompt + 1 x generated: the one with the least has the most to give. */
#include "policies/core/policy.h"
#include "policies/signals/signals.h"
#include "policies/state/facts.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	return rates_throughput(walk->facts->rates, candidate->target->id, walk->now,
	                        walk->facts->policy->stale_after, ret_value);
}

const struct signal signal_throughput = {
	.name = "throughput",
	.help = "Tokens a second that the engine works on, prompts twice.",
	.scale = SCALE_MINMAX,
	.level1 = LEVEL1_MEAN,
	.read = read,
};
