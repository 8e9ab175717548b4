/* serving.c - instances that run almost nothing come first: only new requests
 * can correct what their averages say. */
#include "policies/core/policy.h"
#include "policies/core/strategy.h"
#include "policies/stages/stages.h"

static bool keeps(const struct walk *walk, const struct candidate *candidate)
{
	return candidate->running < walk->entry->prefer_serving_below - 1e-9;
}

static bool needed(const struct walk *walk)
{
	return walk->level == 1 && walk->strategy->serving && walk->entry->prefer_serving_below > 0;
}

const struct stage stage_serving = {
	.name = "serving",
	.help = "Keeps only instances that run almost nothing, if there are any.",
	.keep = keeps,
	.needed = needed,
	.when_empty = { EMPTY_UNDO, EMPTY_UNDO },
	.per_entry = true,
};
