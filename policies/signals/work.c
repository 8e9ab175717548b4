/* work.c - the tokens that stand between this request and its first token.
 *
 * What waits for prefill already, what this prompt adds where it is not cached,
 * and something for each request in flight, which slows the others' prefill by
 * its decoding. All of it is known to the agent itself, and none of it late. */
#include "policies/core/policy.h"
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	const struct entry_policy *entry = walk->entry;

	*ret_value = candidate->prefill_tokens +
	             entry->uncached_weight * candidate->uncached_tokens +
	             entry->inflight_tokens * candidate->running_scored;
	return true;
}

const struct signal signal_work = {
	.name = "work",
	.help = "Waiting prefill, the uncached part of this prompt, and requests in flight, in "
	        "tokens.",
	.scale = SCALE_MINMAX,
	.level1 = LEVEL1_LEAST,
	.read = read,
};
