/* least.h - the least loaded of those standing, for pickers that draw among k. */
#pragma once

#include "policies/core/route.h"

enum { LEAST_MAX = 64 };

enum load_by { BY_RUNNING, BY_TOKENS, BY_LOAD_BALANCE };

#define LOAD_BY_CHOICES "running|tokens|load-balance"

struct least {
	size_t at;   /* index into walk->pool */
	double load; /* in requests, whatever it was measured by */
};

/* The k (at most LEAST_MAX) least loaded, least first; how many. Who has no room at all is
 * left out while others have. Ties keep the order of the
 * pool, which the collect stage has shuffled. */
size_t least_loaded(const struct walk *walk, enum load_by by, size_t k,
                    struct least ret_least[LEAST_MAX]);
