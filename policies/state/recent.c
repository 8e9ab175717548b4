/* recent.c - one decayed sum a target. */
#include "policies/state/recent.h"

#include <math.h>
#include <stdlib.h>

#include "policies/core/bug.h"

static const double fade_s = 180;
static const usec_t kept_for = 600 * SECOND;

struct sum {
	double value; /* as of at */
	usec_t at;
};

struct recent {
	uint32_t targets;
	usec_t wanted_until;
	struct sum *sums;
};

struct recent *recent_new(uint32_t targets)
{
	struct recent *recent = calloc(1, sizeof(*recent));

	BUG_ON(targets == 0);
	if (!recent)
		return NULL;
	recent->targets = targets;
	recent->sums = calloc(targets, sizeof(*recent->sums));
	if (recent->sums)
		return recent;
	recent_free(recent);
	return NULL;
}

void recent_free(struct recent *recent)
{
	if (!recent)
		return;
	free(recent->sums);
	free(recent);
}

void recent_want(struct recent *recent, usec_t now)
{
	recent->wanted_until = now + kept_for;
}

bool recent_wanted(const struct recent *recent, usec_t now)
{
	return now < recent->wanted_until;
}

double recent_cost(const struct recent *recent, uint32_t target, usec_t now)
{
	const struct sum *sum;

	BUG_ON(target >= recent->targets);
	sum = &recent->sums[target];
	return sum->value * exp(-seconds_between(sum->at, now) / fade_s);
}

void recent_add(struct recent *recent, uint32_t target, double seconds, usec_t now)
{
	double before = recent_cost(recent, target, now);

	recent->sums[target] = (struct sum){ before + seconds, now };
}

void recent_forget(struct recent *recent, uint32_t target)
{
	BUG_ON(target >= recent->targets);
	recent->sums[target] = (struct sum){ 0 };
}
