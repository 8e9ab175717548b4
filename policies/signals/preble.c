/* preble.c - what this request costs a target, in seconds of its time.
 *
 * What was sent there lately (policies/state/recent.h), the prefill of what it does not hold,
 * and as much of that again as its cache is full: so much must be evicted to make room.
 * Where only the deepest holders stand (stage deepest) they save the same, so the one with
 * the fewest tokens in flight is the cheapest. */
#include "policies/core/policy.h"
#include "policies/signals/signals.h"
#include "policies/state/facts.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	const struct facts *facts = walk->facts;
	uint32_t target = candidate->target->id;
	double usage = 0, prefill;

	if (walk->deep) {
		*ret_value = candidate->tokens;
		return true;
	}
	prefill = candidate->uncached_tokens *
	          ttft_fit_line(facts->ttft_fits, candidate->instance, target).slope;
	(void)engines_kv_usage(facts->engines, target, walk->now, facts->policy->stale_after,
	                       &usage);
	*ret_value = recent_cost(facts->recent, target, walk->now) + prefill + prefill * usage;
	return true;
}

const struct signal signal_preble = {
	.name = "preble",
	.help = "Cost of the request: recent load, prefill and eviction, in seconds.",
	.scale = SCALE_MINMAX,
	.level1 = LEVEL1_LEAST,
	.read = read,
};
