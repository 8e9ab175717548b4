/* fairness.c - how far a target is from the place that is the caller's.
 *
 * Those standing are put in order by their labels, an order that is the same for every
 * request. The place of a caller is V / bucket, its tokens lately by the mean of the least
 * and the most of the active callers, at least 1000, and at most the last place: who has had
 * little is sent to the first targets, who has had much to the last, so that heavy callers do
 * not stand in the light ones' way. The value is the distance, as a part of all places. After
 * the vtc-basic of AIBrix, which puts its targets in another order each time. */
#include <math.h>
#include <string.h>

#include "policies/signals/signals.h"
#include "policies/state/facts.h"

static const double unknown = (double)NAN;
static const double least_bucket = 1000, most_of_nobody = 8000;

static bool is_before(const struct walk *walk, double a, double b)
{
	return strcmp(walk->pool[(size_t)a].target->label, walk->pool[(size_t)b].target->label) < 0;
}

static void swap(double *a, double *b)
{
	double kept = *a;

	*a = *b;
	*b = kept;
}

/* The heap's top is the last by its label. */
static void sink(const struct walk *walk, double *order, size_t at, size_t count)
{
	while (2 * at + 1 < count) {
		size_t child = 2 * at + 1;

		if (child + 1 < count && is_before(walk, order[child], order[child + 1]))
			child++;
		if (!is_before(walk, order[at], order[child]))
			return;
		swap(&order[at], &order[child]);
		at = child;
	}
}

/* Who stands at each place: a heap sort of indices, which are kept as doubles since that is
 * the memory there is. */
static void sort(const struct walk *walk, double *ret_order)
{
	size_t count = walk->standing;

	for (size_t i = 0; i < count; i++)
		ret_order[i] = (double)i;
	for (size_t i = count / 2; i-- > 0;)
		sink(walk, ret_order, i, count);
	for (size_t i = count; i-- > 1;) {
		swap(&ret_order[0], &ret_order[i]);
		sink(walk, ret_order, 0, i);
	}
}

/* From who stands at a place to the place where each stands, cycle by cycle; what is done is
 * below zero meanwhile. */
static void invert(double *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t place = i;
		double who = order[i];

		if (who < 0)
			continue;
		while ((size_t)who != i) {
			double next = order[(size_t)who];

			order[(size_t)who] = -1 - (double)place;
			place = (size_t)who;
			who = next;
		}
		order[i] = -1 - (double)place;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = -1 - order[i];
}

/* Where the caller belongs, 0 to the last place. */
static double place_of(const struct walk *walk, double last)
{
	const struct tenants *tenants = walk->facts->tenants;
	struct tenants_range range = tenants_range(tenants, walk->now);
	double most = range.active > 0 ? range.most : most_of_nobody;
	double bucket = (range.least + most) / 2;
	double place = tenants_tokens(tenants, walk->tenant, walk->now) /
	               (bucket > least_bucket ? bucket : least_bucket);

	return place < last ? place : last;
}

static void read_all(const struct walk *walk, double *ret_values)
{
	size_t count = walk->standing;
	double last = (double)count - 1;
	double place;

	if (walk->tenant == 0) {
		for (size_t i = 0; i < count; i++)
			ret_values[i] = unknown;
		return;
	}
	sort(walk, ret_values);
	invert(ret_values, count);
	place = place_of(walk, last);
	for (size_t i = 0; i < count; i++)
		ret_values[i] = last > 0 ? fabs(ret_values[i] - place) / last : 0;
}

const struct signal signal_fairness = {
	.name = "fairness",
	.help = "How far the target is from the caller's place, by its tokens lately.",
	.scale = SCALE_NATURAL,
	.read_all = read_all,
};
