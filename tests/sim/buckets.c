/* buckets.c - the bounds are those of vLLM's pages, so that readers meet what they will meet. */
#include "tests/sim/buckets.h"

#include <inttypes.h>

const double buckets_ttft_bounds[BUCKETS_BOUNDS + 1] = {
	0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
	1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560,
};
const double buckets_itl_bounds[BUCKETS_BOUNDS + 1] = {
	0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
	0.75, 1,     2.5,  5,     7.5, 10,   20,  40,  80,
};
const double buckets_e2e_bounds[BUCKETS_BOUNDS + 1] = {
	0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,   10,   15,   20,
	30,  40,  50,  60, 120, 240, 480, 960, 1920, 7680,
};

void buckets_add(struct buckets *buckets, double seconds)
{
	buckets->count++;
	buckets->sum += seconds;
	for (int i = 0; buckets->bounds[i] > 0; i++) {
		if (seconds <= buckets->bounds[i]) {
			buckets->counts[i]++;
			return;
		}
	}
}

void buckets_write(const struct buckets *buckets, const char *name, const char *labels,
                   struct bytes *out)
{
	uint64_t below = 0;

	bytes_format(out, "# HELP %s Simulated.\n# TYPE %s histogram\n", name, name);
	for (int i = 0; buckets->bounds[i] > 0; i++) {
		below += buckets->counts[i];
		bytes_format(out, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, labels,
		             buckets->bounds[i], below);
	}
	bytes_format(out, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, labels, buckets->count);
	bytes_format(out, "%s_sum{%s} %.6f\n", name, labels, buckets->sum);
	bytes_format(out, "%s_count{%s} %" PRIu64 "\n", name, labels, buckets->count);
}
