/* buckets.h - a Prometheus histogram: counts below bounds, a sum, a count. */
#pragma once

#include <stdint.h>

#include "tests/sim/bytes.h"

enum { BUCKETS_BOUNDS = 22 };

/* Ascending, ended by 0. */
extern const double buckets_ttft_bounds[BUCKETS_BOUNDS + 1];
extern const double buckets_itl_bounds[BUCKETS_BOUNDS + 1];
extern const double buckets_e2e_bounds[BUCKETS_BOUNDS + 1];

struct buckets {
	const double *bounds;
	uint64_t counts[BUCKETS_BOUNDS];
	uint64_t count;
	double sum;
};

void buckets_add(struct buckets *buckets, double seconds);

/* Its lines on a metric page, HELP and TYPE included; labels as text, without braces. */
void buckets_write(const struct buckets *buckets, const char *name, const char *labels,
                   struct bytes *out);
