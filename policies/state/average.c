/* average.c - weight by age, not by count: alpha is 1 / weight, and weight fades. */
#include "policies/state/average.h"

#include <math.h>
#include <stdlib.h>

#include "policies/core/bug.h"

static const double drift_half_s = 60; /* half way to the others */
static const double known_s = 300;
static const double trusted_s = 60;
static const double hint_weight = 0.25; /* of a sample */

void average_add_many(struct average *average, double mean, double count, usec_t tau, usec_t now)
{
	double age = seconds_between(average->at, now);

	if (count <= 0)
		return;
	if (average->weight > 0)
		average->weight *= exp(-age * 1e6 / (double)tau);
	average->weight += count;
	average->value += count * (mean - average->value) / average->weight;
	average->at = now;
}

void average_add(struct average *average, double sample, usec_t tau, usec_t now)
{
	average_add_many(average, sample, 1, tau, now);
}

/* The sum of samples is linear, so one can be taken out with the weight it has by now. */
void average_remove(struct average *average, double sample, usec_t tau, usec_t sampled_at)
{
	double weight = exp(-seconds_between(sampled_at, average->at) * 1e6 / (double)tau);
	double left = average->weight - weight;

	if (average->weight <= 0)
		return;
	if (left < 1e-9) {
		*average = (struct average){ 0 };
		return;
	}
	average->value = (average->value * average->weight - sample * weight) / left;
	average->weight = left;
}

void average_hint(struct average *average, double value, usec_t now)
{
	usec_t age = (usec_t)((trusted_s + 1) * 1e6);
	double known;

	if (average_plain(average, now, &known))
		return;
	*average = (struct average){ .value = value,
		                     .weight = hint_weight,
		                     .at = now > age ? now - age : 0 };
}

bool average_plain(const struct average *average, usec_t now, double *ret_value)
{
	if (average->weight <= 0 || seconds_between(average->at, now) > known_s)
		return false;
	*ret_value = average->value;
	return true;
}

bool average_read(const struct average *average, double others, usec_t now, double *ret_value)
{
	double kept;

	if (!average_plain(average, now, ret_value))
		return false;
	if (others < 0)
		return true;
	kept = exp(-seconds_between(average->at, now) / drift_half_s * M_LN2);
	*ret_value = others + (average->value - others) * kept;
	return true;
}

bool average_trusted(const struct average *average, usec_t now)
{
	return average->weight > 0 && seconds_between(average->at, now) <= trusted_s;
}

struct averages {
	uint32_t targets;
	struct latency *of;
};

struct averages *averages_new(uint32_t targets)
{
	struct averages *averages = calloc(1, sizeof(*averages));

	BUG_ON(targets == 0);
	if (!averages)
		return NULL;
	averages->targets = targets;
	averages->of = calloc(targets, sizeof(*averages->of));
	if (!averages->of) {
		averages_free(averages);
		return NULL;
	}
	return averages;
}

void averages_free(struct averages *averages)
{
	if (!averages)
		return;
	free(averages->of);
	free(averages);
}

struct latency *averages_of(struct averages *averages, uint32_t target)
{
	BUG_ON(target >= averages->targets);
	return &averages->of[target];
}

void averages_forget(struct averages *averages, uint32_t target)
{
	*averages_of(averages, target) = (struct latency){ 0 };
}
