/* backoff.c - doubles, up to a bound, and jitters. */
#include "redis/backoff.h"

usec_t redis_backoff_next(struct redis_backoff *backoff)
{
	usec_t pause = backoff->first;

	for (unsigned i = 0; i < backoff->failed && pause < backoff->max; i++)
		pause *= 2;
	if (pause > backoff->max)
		pause = backoff->max;
	else
		backoff->failed++;
	return pause / 2 + (usec_t)((double)(pause - pause / 2) * rng_unit(&backoff->rng));
}
