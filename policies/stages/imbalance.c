/* imbalance.c - when loads drift too far apart, load alone decides.
 *
 * The gate leaves only the least loaded; once it fired it holds until the gap
 * has halved, or it would flutter. The sigma filter takes off the top: whoever
 * is more than k standard deviations above the mean. */
#include <math.h>

#include "policies/core/policy.h"
#include "policies/core/strategy.h"
#include "policies/stages/stages.h"

static const double rounding = 1e-9;

struct range {
	double least, most, sum;
};

static struct range range_of(const struct walk *walk)
{
	double first = walk->pool[0].running_scored;
	struct range range = { first, first, 0 };

	for (size_t i = 0; i < walk->standing; i++) {
		double load = walk->pool[i].running_scored;

		range.sum += load;
		range.least = load < range.least ? load : range.least;
		range.most = load > range.most ? load : range.most;
	}
	return range;
}

static void drop_above(struct walk *walk, double limit)
{
	for (size_t i = walk->standing; i-- > 0;) {
		if (walk->pool[i].running_scored > limit + rounding)
			walk_drop(walk, i, &stage_imbalance);
	}
}

static bool fires(const struct walk *walk, const struct range *range)
{
	const struct entry_policy *entry = walk->entry;
	double gap = range->most - range->least;
	double others = (range->sum - range->most) / ((double)walk->standing - 1);

	if (walk->latched)
		return gap >= entry->gate_gap / 2 - rounding;
	return gap >= entry->gate_gap - rounding &&
	       (walk->standing <= 2 || range->most > entry->gate_factor * (others + 1) + rounding);
}

static void filter(struct walk *walk)
{
	double n = (double)walk->standing;
	double mean = range_of(walk).sum / n;
	double squares = 0;

	for (size_t i = 0; i < walk->standing; i++) {
		double off = walk->pool[i].running_scored - mean;

		squares += off * off;
	}
	drop_above(walk, mean + walk->entry->sigma * sqrt(squares / (n - 1)));
}

static void run(struct walk *walk)
{
	struct range range;

	if (walk->standing < 2)
		return;
	if (walk->strategy->gate) {
		range = range_of(walk);
		walk->gated = fires(walk, &range);
		if (walk->gated)
			drop_above(walk, range.least);
	}
	if (walk->strategy->sigma && walk->entry->sigma > 0 && walk->standing > 1)
		filter(walk);
}

static bool needed(const struct walk *walk)
{
	return walk->strategy->gate || walk->strategy->sigma;
}

const struct stage stage_imbalance = {
	.name = "imbalance",
	.help = "Where loads are too uneven, drops the most loaded.",
	.run = run,
	.needed = needed,
	.when_empty = { EMPTY_UNDO, EMPTY_UNDO },
	.per_entry = true,
};
