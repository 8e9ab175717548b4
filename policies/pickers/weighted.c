/* weighted.c - chance in proportion to the score.
 *
 * One number u for each candidate, key = ln(1 - u) / score^gamma, the highest key wins
 * (Efraimidis and Spirakis): one pass, no sum that rounding could overrun. Score 0 is
 * never taken, unless all are 0. */
#include <math.h>

#include "policies/core/rng.h"
#include "policies/pickers/pickers.h"

struct settings {
	double gamma;
};

static size_t pick(struct walk *walk, const void *settings)
{
	const struct settings *weighted = settings;
	size_t best = walk->standing;
	double highest = 0;

	for (size_t i = 0; i < walk->standing; i++) {
		double drawn = log(1 - rng_unit(walk->rng));
		double score = walk->pool[i].score;
		double key;

		if (score <= 0)
			continue;
		key = drawn / (weighted->gamma == 1 ? score : pow(score, weighted->gamma));
		if (best < walk->standing && key <= highest)
			continue;
		highest = key;
		best = i;
	}
	return best < walk->standing ? best : rng_below(walk->rng, walk->standing);
}

static const struct option options[] = {
	{ "gamma", OPTION_NUMBER, offsetof(struct settings, gamma), 0, 100, 1, "",
	  "Power of the score: 0 makes all equal, more than 1 prefers the best more.", NULL,
	  false },
	{ 0 },
};

const struct picker picker_weighted = {
	.name = "weighted",
	.help = "Draws a target, each as likely as its score is high.",
	.pick = pick,
	.settings_size = sizeof(struct settings),
	.options = options,
};
