/* deepest.c - when somebody holds most of the prompt, only those who hold most of it count.
 *
 * For strategies that first ask whether a prompt is a known one (prefix-cache-preble): with
 * more than `deepest` of it held, going anywhere else would compute it twice. */
#include "policies/core/policy.h"
#include "policies/core/strategy.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"

static void run(struct walk *walk)
{
	uint32_t most = 0;

	for (size_t i = 0; i < walk->standing; i++)
		most = walk->pool[i].matched > most ? walk->pool[i].matched : most;
	if ((double)most <=
	    walk->strategy->deepest * (double)walk->prompt->total_bytes * (1 + 1e-9))
		return;
	walk->deep = true;
	for (size_t i = walk->standing; i-- > 0;) {
		if (walk->pool[i].matched < most)
			walk_drop(walk, i, &stage_deepest);
	}
}

static bool needed(const struct walk *walk)
{
	return walk->strategy->deepest > 0 && walk->scratch->any_match &&
	       walk->prompt->total_bytes > 0;
}

const struct stage stage_deepest = {
	.name = "deepest",
	.help = "Where the strategy says so, keeps only those who hold most of a known prompt.",
	.run = run,
	.needed = needed,
	.when_empty = { EMPTY_UNDO, EMPTY_UNDO },
	.per_entry = true,
};
