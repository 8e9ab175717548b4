/* capacity.c - up with every peak, down only under load. */
#include "policies/state/capacity.h"

#include <math.h>

static const double rise_s = 10, fall_s = 60;
static const double busy_share = 0.8;
static const double epsilon = 1e-9;

/* The part of the way to a new value after so long. */
static double part(double seconds, double tau_s)
{
	return 1 - exp(-seconds / tau_s);
}

bool capacity_shown(const struct capacity *capacity, double *ret_rate)
{
	if (!capacity->known || capacity->running < CAPACITY_RUNNING_MIN - epsilon)
		return false;
	*ret_rate = capacity->rate;
	return true;
}

void capacity_add(struct capacity *capacity, double rate, double running, double seconds)
{
	if (running < 1 - epsilon)
		return;
	if (!capacity->known) {
		*capacity = (struct capacity){ true, rate, running };
		return;
	}
	if (rate > capacity->rate) {
		capacity->rate += (rate - capacity->rate) * part(seconds, rise_s);
		capacity->running += (running - capacity->running) * part(seconds, rise_s);
	} else if (running >= busy_share * capacity->running - epsilon) {
		capacity->rate += (rate - capacity->rate) * part(seconds, fall_s);
	}
}
