/* score.c - how good each candidate is, compared with the others standing.
 *
 * Signals come in different units, so each becomes a grade between 0 and 1: by
 * its own scale, or stretched between the best and the worst standing. The score
 * is the mean of the grades, weighted by the strategy. A signal not known of a
 * candidate leaves its mean, so the weight goes to the known ones: neither a
 * prize nor a punishment. Where nothing is known, the score is the middle.
 *
 * Before stretching, what lies far from the median is pulled in, or one outlier
 * would make all the others look alike. Not where a signal stands alone: there
 * is nothing to weigh it against, and pulled in, the best could tie with others. */
#include <math.h>

#include "policies/core/policy.h"
#include "policies/core/strategy.h"
#include "policies/signals/signal.h"
#include "policies/stages/median.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"

static const double middle = 0.5;
static const double unknown = (double)NAN;
static const double infinity = (double)INFINITY; /* the macro is a float */
static const double deviations = 3;              /* from the median, that are still believed */

static bool read_least(const struct walk *walk, const struct signal *signal,
                       const struct candidate *instance, double *ret_value)
{
	bool known = false;
	double least = 0;

	for (uint32_t i = 0; i < instance->member_count; i++) {
		double value;

		if (!signal->read(walk, &instance->members[i], &value))
			continue;
		if (!known || value < least)
			least = value;
		known = true;
	}
	if (known)
		*ret_value = least;
	return known;
}

static bool read_one(const struct walk *walk, const struct signal *signal,
                     const struct candidate *candidate, double *ret_value)
{
	if (!candidate->replica && signal->level1 == LEVEL1_LEAST && candidate->member_count > 0)
		return read_least(walk, signal, candidate, ret_value);
	return signal->read(walk, candidate, ret_value);
}

struct range {
	size_t known;
	double least, most; /* of those that are finite */
};

static bool is_finite(double value)
{
	return value - value == 0;
}

static void widen(struct range *range, double value)
{
	range->least = value < range->least ? value : range->least;
	range->most = value > range->most ? value : range->most;
}

/* Of all standing, into scratch->values. */
static struct range read_all(const struct walk *walk, const struct signal *signal)
{
	struct range range = { 0, infinity, -infinity };
	double *values = walk->scratch->values;

	for (size_t i = 0; i < walk->standing; i++) {
		double value = unknown;

		range.known += read_one(walk, signal, &walk->pool[i], &value);
		if (is_finite(value))
			widen(&range, value);
		values[i] = value;
	}
	return range;
}

static size_t copy_finite(const struct walk *walk, double *ret_finite)
{
	size_t count = 0;

	for (size_t i = 0; i < walk->standing; i++) {
		if (is_finite(walk->scratch->values[i]))
			ret_finite[count++] = walk->scratch->values[i];
	}
	return count;
}

static void pull_in_outliers(const struct walk *walk, struct range *range)
{
	double *values = walk->scratch->values;
	double *sorted = walk->scratch->sorted;
	size_t count = copy_finite(walk, sorted);
	double centre, spread;

	if (count < 3)
		return;
	centre = median(sorted, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = fabs(sorted[i] - centre);
	spread = deviations * median(sorted, count);
	if (spread <= 0)
		return;
	range->least = infinity;
	range->most = -infinity;
	for (size_t i = 0; i < walk->standing; i++) {
		if (!is_finite(values[i]))
			continue;
		if (values[i] > centre + spread)
			values[i] = centre + spread;
		else if (values[i] < centre - spread)
			values[i] = centre - spread;
		widen(range, values[i]);
	}
}

/* Grades in place of the values: 1 for the best. */
static void stretch(const struct walk *walk, const struct weighing *weighing,
                    const struct range *range)
{
	const struct signal *signal = weighing->signal;
	double *values = walk->scratch->values;
	double best = signal->more_is_better ? range->most : range->least;
	double width = weighing->min_spread >= 0 ? weighing->min_spread : signal->min_spread;

	width = range->most - range->least > width ? range->most - range->least : width;
	for (size_t i = 0; i < walk->standing; i++) {
		if (is_finite(values[i]))
			values[i] = width > 0 ? 1 - fabs(values[i] - best) / width : 1;
		else if (!isnan(values[i]))
			values[i] = 0;
	}
}

static void clamp(const struct walk *walk, const struct signal *signal)
{
	double *values = walk->scratch->values;

	for (size_t i = 0; i < walk->standing; i++) {
		if (isnan(values[i]))
			continue;
		values[i] = values[i] < 0 ? 0 : values[i] > 1 ? 1 : values[i];
		values[i] = signal->more_is_better ? values[i] : 1 - values[i];
	}
}

/* Puts grades where the values were. */
static void put_grades(struct walk *walk, const struct weighing *weighing, struct range *range,
                       bool alone)
{
	if (weighing->signal->scale == SCALE_NATURAL) {
		clamp(walk, weighing->signal);
		return;
	}
	if (!alone)
		pull_in_outliers(walk, range);
	stretch(walk, weighing, range);
}

/* candidate->score gathers the grades, graded the weights of those that are known. */
static void add(struct walk *walk, double weight, bool first)
{
	const double *values = walk->scratch->values;

	for (size_t i = 0; i < walk->standing; i++) {
		struct candidate *candidate = &walk->pool[i];
		bool known = !isnan(values[i]);

		if (first)
			candidate->score = candidate->graded = 0;
		candidate->score += known ? weight * values[i] : 0;
		candidate->graded += known ? weight : 0;
	}
}

/* Once graded: times the weight of the service, which only instances have. */
static void weigh_services(struct walk *walk)
{
	for (size_t i = 0; i < walk->standing && walk->level == 1; i++) {
		double weight = walk->pool[i].instance->weight;

		walk->pool[i].score *= weight > 0 ? weight : 1;
	}
}

/* One signal alone: its grade is the score. */
static void settle_one(struct walk *walk)
{
	const double *values = walk->scratch->values;

	for (size_t i = 0; i < walk->standing; i++) {
		double grade = isnan(values[i]) ? middle : values[i];

		walk->pool[i].score = walk->pool[i].graded = grade;
	}
}

static void settle(struct walk *walk)
{
	for (size_t i = 0; i < walk->standing; i++) {
		struct candidate *candidate = &walk->pool[i];

		candidate->graded =
		        candidate->graded > 0 ? candidate->score / candidate->graded : middle;
		candidate->score = candidate->graded;
	}
}

/* False when the first signal is known of nobody, and another recipe is to be used. */
static bool score_by(struct walk *walk, const struct strategy *strategy)
{
	const struct weighing *weighings = strategy->weighings;
	bool alone = weighings[0].signal && !weighings[1].signal;

	for (size_t i = 0; i < walk->standing && !weighings[0].signal; i++)
		walk->pool[i].score = walk->pool[i].graded = 0;
	for (size_t i = 0; i < WEIGHINGS_MAX && weighings[i].signal; i++) {
		struct range range = read_all(walk, weighings[i].signal);

		if (range.known == 0 && i == 0 && strategy->falls_to)
			return false;
		put_grades(walk, &weighings[i], &range, alone);
		if (!alone)
			add(walk, weighings[i].weight, i == 0);
	}
	if (alone)
		settle_one(walk);
	else
		settle(walk);
	weigh_services(walk);
	return true;
}

static void run(struct walk *walk)
{
	walk->degraded = !score_by(walk, walk->strategy);
	if (!walk->degraded)
		return;
	walk->strategy = walk->strategy->falls_to;
	(void)score_by(walk, walk->strategy);
}

const struct stage stage_score = {
	.name = "score",
	.help = "Scores the candidates by the signals of the strategy.",
	.run = run,
	.when_empty = { EMPTY_NEXT, EMPTY_NEXT },
	.per_entry = true,
};
