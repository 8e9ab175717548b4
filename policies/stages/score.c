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
#include "policies/signals/signals.h"
#include "policies/stages/median.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static const double middle = 0.5;
static const double unknown = (double)NAN;
static const double infinity = (double)INFINITY; /* the macro is a float */
static const double deviations = 3;              /* from the median, that are still believed */

/* Of those of its replicas of which it is known. */
static bool read_members(const struct walk *walk, const struct signal *signal,
                         const struct candidate *instance, double *ret_value)
{
	double least = infinity, most = -infinity, sum = 0;
	uint32_t known = 0;

	for (uint32_t i = 0; i < instance->member_count; i++) {
		double value;

		if (!signal->read(walk, &instance->members[i], &value))
			continue;
		least = value < least ? value : least;
		most = value > most ? value : most;
		sum += value;
		known++;
	}
	if (known == 0)
		return false;
	*ret_value = signal->level1 == LEVEL1_LEAST  ? least
	             : signal->level1 == LEVEL1_MOST ? most
	                                             : sum / known;
	return true;
}

struct range {
	size_t known, finite;
	double least, most; /* of those that are finite */
};

static bool is_finite(double value)
{
	return value - value == 0;
}

static inline void widen(struct range *range, double value)
{
	range->least = value < range->least ? value : range->least;
	range->most = value > range->most ? value : range->most;
}

/* Of all standing, into scratch->values; of how many it is known. */
static size_t read_values(const struct walk *walk, const struct signal *signal)
{
	bool by_members =
	        walk->level == 1 && signal_reads_members(signal, walk->facts->policy->levels);
	double *values = walk->scratch->values;
	size_t known = 0;

	if (signal->read_all) {
		signal->read_all(walk, values);
		for (size_t i = 0; i < walk->standing; i++)
			known += !isnan(values[i]);
		return known;
	}
	for (size_t i = 0; i < walk->standing; i++) {
		const struct candidate *candidate = &walk->pool[i];

		values[i] = unknown;
		known += by_members && candidate->member_count > 0
		                 ? read_members(walk, signal, candidate, &values[i])
		                 : signal->read(walk, candidate, &values[i]);
	}
	return known;
}

/* A loop of its own, which calls nobody: it stays in registers. */
static struct range range_of(const struct walk *walk, size_t known)
{
	const double *values = walk->scratch->values;
	struct range range = { known, 0, infinity, -infinity };
	size_t standing = walk->standing;

	for (size_t i = 0; i < standing; i++) {
		if (!is_finite(values[i]))
			continue;
		widen(&range, values[i]);
		range.finite++;
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

/* How a value becomes a grade. */
struct grading {
	bool natural, more_is_better;
	double best, width; /* unless natural */
	double full;        /* if natural */
};

static bool is_natural(const struct weighing *weighing)
{
	return weighing->scale == WEIGHING_NATURAL ||
	       (weighing->scale == WEIGHING_OWN && weighing->signal->scale == SCALE_NATURAL);
}

static double full_of(const struct weighing *weighing)
{
	if (weighing->full > 0)
		return weighing->full;
	return weighing->signal->full > 0 ? weighing->signal->full : 1;
}

static struct grading grading_of(const struct weighing *weighing, const struct range *range)
{
	const struct signal *signal = weighing->signal;
	double width = weighing->min_spread >= 0 ? weighing->min_spread : signal->min_spread;

	return (struct grading){
		.natural = is_natural(weighing),
		.full = full_of(weighing),
		.more_is_better = signal->more_is_better,
		.best = signal->more_is_better ? range->most : range->least,
		.width = range->most - range->least > width ? range->most - range->least : width,
	};
}

static inline double stretched(const struct grading *grading, double value)
{
	return 1 - fabs(value - grading->best) / grading->width;
}

/* 1 for the best; not a number where the value is none. */
static inline double grade(const struct grading *grading, double value)
{
	if (!grading->natural && is_finite(value))
		return grading->width > 0 ? stretched(grading, value) : 1;
	if (isnan(value))
		return value;
	if (!grading->natural)
		return 0;
	value = value / grading->full;
	value = value < 0 ? 0 : value > 1 ? 1 : value;
	return grading->more_is_better ? value : 1 - value;
}

/* candidate->score gathers the grades, graded the weights of those that are known. */
static void add(struct walk *walk, const struct grading *grading, double weight, bool first)
{
	const double *values = walk->scratch->values;

	for (size_t i = 0; i < walk->standing; i++) {
		struct candidate *candidate = &walk->pool[i];
		double value = grade(grading, values[i]);
		bool known = !isnan(value);

		if (first)
			candidate->score = candidate->graded = 0;
		candidate->score += known ? weight * value : 0;
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

/* One signal alone: its grade is the score. As a rule it is a number of everybody, and not of all
 * the same. */
static void settle_one(struct walk *walk, const struct grading *grading, size_t finite)
{
	const double *values = walk->scratch->values;
	struct grading by = *grading;
	struct candidate *pool = walk->pool;
	size_t standing = walk->standing;

	if (!by.natural && by.width > 0 && finite == standing) {
		for (size_t i = 0; i < standing; i++)
			pool[i].score = pool[i].graded = stretched(&by, values[i]);
		return;
	}
	for (size_t i = 0; i < standing; i++) {
		double value = grade(&by, values[i]);

		pool[i].score = pool[i].graded = isnan(value) ? middle : value;
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

/* The strategy's, and the session's signal, worth as much as all others together,
 * where it is wanted beside them. */
static const struct weighing *weighings_of(const struct walk *walk, const struct strategy *strategy,
                                           struct weighing room[WEIGHINGS_MAX + 2])
{
	double sum = 0;
	size_t count = 0;

	if (entry_session_mode(walk->entry) != SESSION_SOFT || walk->session.target == TARGET_NONE)
		return strategy->weighings;
	while (count < WEIGHINGS_MAX && strategy->weighings[count].signal) {
		if (strategy->weighings[count].signal == &signal_session)
			return strategy->weighings;
		room[count] = strategy->weighings[count];
		sum += room[count++].weight;
	}
	room[count++] = (struct weighing){ .signal = &signal_session,
		                           .weight = sum > 0 ? sum : 1,
		                           .min_spread = -1 };
	room[count].signal = NULL;
	return room;
}

/* False when the first signal is known of nobody, and another recipe is to be used. */
static bool score_by(struct walk *walk, const struct strategy *strategy)
{
	struct weighing room[WEIGHINGS_MAX + 2];
	const struct weighing *weighings = weighings_of(walk, strategy, room);
	size_t most = weighings == room ? WEIGHINGS_MAX + 1 : WEIGHINGS_MAX;
	bool alone = weighings[0].signal && !weighings[1].signal;

	for (size_t i = 0; i < walk->standing && !weighings[0].signal; i++)
		walk->pool[i].score = walk->pool[i].graded = 0;
	for (size_t i = 0; i < most && weighings[i].signal; i++) {
		const struct weighing *weighing = &weighings[i];
		struct range range = range_of(walk, read_values(walk, weighing->signal));
		struct grading grading;

		if (range.known == 0 && i == 0 && strategy->falls_to)
			return false;
		walk->degraded |= weighing->told && range.known == 0;
		if (!alone && !is_natural(weighing))
			pull_in_outliers(walk, &range);
		grading = grading_of(weighing, &range);
		if (alone)
			settle_one(walk, &grading, range.finite);
		else
			add(walk, &grading, weighing->weight, i == 0);
	}
	if (!alone)
		settle(walk);
	weigh_services(walk);
	return true;
}

static void run(struct walk *walk)
{
	walk->degraded = false;
	if (score_by(walk, walk->strategy))
		return;
	walk->degraded = true;
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
