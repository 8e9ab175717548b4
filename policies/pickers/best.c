/* best.c - the highest score; among equals who was chosen least recently, then
 * the first in the shuffled pool.
 *
 * Without recency, requests that come one after another to an idle fleet would
 * all go to one target. */
#include "policies/pickers/pickers.h"

static const double epsilon = 1e-9;

static size_t pick(struct walk *walk, const void *settings)
{
	const struct candidate *pool = walk->pool;
	size_t standing = walk->standing, best = standing;
	double highest = pool[0].score;
	uint64_t earliest = UINT64_MAX; /* decision for any of the best */

	(void)settings;
	for (size_t i = 1; i < standing; i++)
		highest = pool[i].score > highest ? pool[i].score : highest;
	for (size_t i = 0; i < standing; i++) {
		if (pool[i].score < highest - epsilon || pool[i].target->chosen >= earliest)
			continue;
		earliest = pool[i].target->chosen;
		best = i;
	}
	return best;
}

const struct picker picker_best = {
	.name = "best",
	.help = "Takes the target with the highest score.",
	.pick = pick,
};
