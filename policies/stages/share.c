/* share.c - nobody gets more than a share of the requests in flight.
 *
 * Counted over what this agent sent, and only from some requests on, or the
 * first one could never pass. */
#include "policies/core/policy.h"
#include "policies/stages/stages.h"

static const double rounding = 1e-9;

static void run(struct walk *walk)
{
	const struct entry_policy *entry = walk->entry;
	double total = 0;

	for (size_t i = 0; i < walk->count; i++)
		total += walk->pool[i].own;
	if (total < entry->share_min)
		return;
	for (size_t i = walk->standing; i-- > 0;) {
		if ((walk->pool[i].own + 1.0) / (total + 1) > entry->max_share + rounding)
			walk_drop(walk, i, &stage_share);
	}
}

static bool needed(const struct walk *walk)
{
	return walk->entry->max_share < 1;
}

const struct stage stage_share = {
	.name = "share",
	.help = "Drops candidates that would have more than their share of the requests.",
	.run = run,
	.needed = needed,
	.when_empty = { EMPTY_UNDO, EMPTY_UNDO },
	.per_entry = true,
};
