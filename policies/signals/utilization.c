/* utilization.c - how full an engine is, 1 = full.
 *
 * Its own figure where it exports one; else the fuller of its queue, of which 5 requests are
 * full, and its KV cache, of which 0.8 is: one of the two suffices. */
#include "policies/core/policy.h"
#include "policies/signals/signals.h"
#include "policies/state/facts.h"

static const double full_queue = 5;   /* requests */
static const double full_cache = 0.8; /* of it */

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	const struct engines *engines = walk->facts->engines;
	usec_t stale_after = walk->facts->policy->stale_after;
	uint32_t target = candidate->target->id;
	const struct engine_page *page = engines_page(engines, target, walk->now, stale_after);
	double pending = 0, usage = 0;
	bool known;

	if (page && page->utilization >= 0) {
		*ret_value = page->utilization;
		return true;
	}
	known = engines_pending(engines, target, walk->now, stale_after, &pending);
	known |= engines_kv_usage(engines, target, walk->now, stale_after, &usage);
	if (!known)
		return false;
	pending /= full_queue;
	usage /= full_cache;
	*ret_value = pending > usage ? pending : usage;
	return true;
}

const struct signal signal_utilization = {
	.name = "utilization",
	.help = "How full the engine is, by its own figure or by its queue and KV cache.",
	.scale = SCALE_NATURAL,
	.level1 = LEVEL1_MEAN,
	.read = read,
};
