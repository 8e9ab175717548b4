/* best.c - the highest score; among equals who was chosen least recently, then
 * the first in the shuffled pool.
 *
 * Without recency, requests that come one after another to an idle fleet would
 * all go to one target. */
#include "policies/pickers/pickers.h"

static const double epsilon = 1e-9;

enum { RUN = 64 }; /* candidates looked at in one go */

static double highest_score(const struct walk *walk)
{
	const struct candidate *pool = walk->pool;
	size_t standing = walk->standing;
	double highest = pool[0].score;

	for (size_t i = 1; i < standing; i++)
		highest = pool[i].score > highest ? pool[i].score : highest;
	return highest;
}

/* The places of those from..to with no less; how many. Who it is no processor foresees, so there
 * is no jump. */
static size_t find_best(const struct candidate *pool, size_t from, size_t to, double least,
                        size_t ret_places[RUN])
{
	size_t count = 0;

	for (size_t i = from; i < to; i++) {
		ret_places[count] = i;
		count += !(pool[i].score < least);
	}
	return count;
}

static size_t pick(struct walk *walk, const void *settings)
{
	size_t standing = walk->standing, best = standing;
	double least = highest_score(walk) - epsilon;
	uint64_t earliest = UINT64_MAX; /* decision for any of the best */

	(void)settings;
	for (size_t from = 0; from < standing; from += RUN) {
		size_t to = standing - from < RUN ? standing : from + RUN;
		size_t places[RUN];
		size_t count = find_best(walk->pool, from, to, least, places);

		for (size_t i = 0; i < count; i++) {
			uint64_t chosen = walk->pool[places[i]].target->chosen;

			if (chosen >= earliest)
				continue;
			earliest = chosen;
			best = places[i];
		}
	}
	return best;
}

const struct picker picker_best = {
	.name = "best",
	.help = "Takes the target with the highest score.",
	.pick = pick,
};
