/* p2c.c - the better of two drawn at random.
 *
 * Between always the best, which herds when several choose by the same numbers,
 * and chance, which does not look. */
#include "policies/core/rng.h"
#include "policies/pickers/pickers.h"

static const double epsilon = 1e-9;

static size_t pick(struct walk *walk, const void *settings)
{
	const struct candidate *pool = walk->pool;
	size_t first, second;

	(void)settings;
	if (walk->standing == 1)
		return 0;
	first = rng_below(walk->rng, walk->standing);
	second = rng_below(walk->rng, walk->standing - 1);
	second += second >= first;
	if (pool[first].score > pool[second].score + epsilon)
		return first;
	if (pool[second].score > pool[first].score + epsilon)
		return second;
	return pool[second].target->chosen < pool[first].target->chosen ? second : first;
}

const struct picker picker_p2c = {
	.name = "p2c",
	.help = "Draws two targets and takes the one with the higher score.",
	.pick = pick,
};
