/* backoff.h - how long to wait before the next try. Pure. */
#pragma once

#include "policies/core/rng.h"
#include "policies/core/time.h"

struct redis_backoff {
	usec_t first, max; /* 0 < first <= max */
	unsigned failed;   /* tries in a row */
	struct rng rng;
};

/* min(max, first * 2^failed) * x, x even in 0.5..1, so that many agents that lost the
 * store at one moment do not come back at one; counts the failure. */
usec_t redis_backoff_next(struct redis_backoff *backoff);
static inline void redis_backoff_clear(struct redis_backoff *backoff)
{
	backoff->failed = 0;
}
