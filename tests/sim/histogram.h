/* histogram.h - a Prometheus histogram: counts below bounds, a sum, a count. */
#pragma once

#include <stdint.h>

#include "tests/sim/bytes.h"

enum { HISTOGRAM_BOUNDS = 22 };

/* Ascending, ended by 0. */
extern const double histogram_ttft_bounds[HISTOGRAM_BOUNDS + 1];
extern const double histogram_itl_bounds[HISTOGRAM_BOUNDS + 1];
extern const double histogram_e2e_bounds[HISTOGRAM_BOUNDS + 1];

struct histogram {
	const double *bounds;
	uint64_t buckets[HISTOGRAM_BOUNDS];
	uint64_t count;
	double sum;
};

void histogram_add(struct histogram *histogram, double seconds);

/* Its lines on a metric page, HELP and TYPE included; labels as text, without braces. */
void histogram_write(const struct histogram *histogram, const char *name, const char *labels,
                     struct bytes *out);
