/* imbalance.c - when loads drift too far apart, load alone decides.
 *
 * The gate leaves only the least loaded; once it fired it holds until the gap
 * has halved, or it would flutter. Loads are divided by capacity where it is known
 * of all (signals/balance.h): twice the requests on twice the engine are no
 * imbalance. The sigma filter takes off the top: whoever is more than k standard
 * deviations above the mean. */
#include <math.h>

#include "policies/core/policy.h"
#include "policies/core/strategy.h"
#include "policies/signals/balance.h"
#include "policies/stages/stages.h"

static const double rounding = 1e-9;

struct range {
	double least, most, sum;
};

static struct range range_of(const struct walk *walk, const struct balance *balance)
{
	double first = balance_running(balance, walk, &walk->pool[0]);
	struct range range = { first, first, 0 };

	for (size_t i = 0; i < walk->standing; i++) {
		double load = balance_running(balance, walk, &walk->pool[i]);

		range.sum += load;
		range.least = load < range.least ? load : range.least;
		range.most = load > range.most ? load : range.most;
	}
	return range;
}

static void drop_above(struct walk *walk, const struct balance *balance, double limit)
{
	for (size_t i = walk->standing; i-- > 0;) {
		if (balance_running(balance, walk, &walk->pool[i]) > limit + rounding)
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
	struct balance balance = balance_of(walk, false);
	double mean = range_of(walk, &balance).sum / n;
	double squares = 0;

	for (size_t i = 0; i < walk->standing; i++) {
		double off = balance_running(&balance, walk, &walk->pool[i]) - mean;

		squares += off * off;
	}
	drop_above(walk, &balance, mean + walk->entry->sigma * sqrt(squares / (n - 1)));
}

static void run(struct walk *walk)
{
	struct balance balance;
	struct range range;

	if (walk->standing < 2)
		return;
	if (walk->strategy->gate) {
		balance = balance_of(walk, false);
		range = range_of(walk, &balance);
		walk->gated = fires(walk, &range);
		if (walk->gated)
			drop_above(walk, &balance, range.least);
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
