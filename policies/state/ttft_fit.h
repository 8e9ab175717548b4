/* ttft_fit.h - time to first byte as a line over the tokens to be computed before it.
 *
 * At each first byte x = tokens that waited at the target when the request came, plus
 * those of its own prompt that the target did not hold; y = seconds until the byte. Five
 * sums, each x 0.98 before a sample is added: least squares with a memory of about 50.
 * slope = (n Sxy - Sx Sy) / (n Sxx - Sx Sx), base = (Sy - slope Sx) / n.
 *
 * A fit needs 8 samples, and a spread of 256 tokens (standard deviation) to have a slope of
 * its own; with less spread the slope comes from the next level, and its own samples give
 * the base. Next levels: the sums of all replicas of the instance together, then 8000
 * tokens/s and 50 ms. So there is always a line, and it is trusted when the target's own
 * samples are enough. Slope within 1/200000..1/50 s, base within 0..10 s. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/target.h"

struct ttft_fits;

struct ttft_line {
	double slope; /* seconds per token; the rate of prefill is its inverse */
	double base;  /* seconds */
	bool trusted; /* by 8 samples of its own */
};

/* What a sample left behind, to take it back by; number 0: nothing. */
struct ttft_sample {
	float x, y; /* as it counted */
	uint32_t number;
	float error; /* |predicted - y| / y just before it was learnt */
};

/* NULL when out of memory. */
MUST_CHECK struct ttft_fits *ttft_fits_new(uint32_t targets);
void ttft_fits_free(struct ttft_fits *fits);
/* instance: where the target is a replica. A target with 8 samples learns no more of one
 * than 5 x max(predicted, 50 ms). */
struct ttft_sample ttft_fit_add(struct ttft_fits *fits, const struct instance *instance,
                                uint32_t target, double tokens, double seconds);
/* It was none, after all. */
void ttft_fit_remove(struct ttft_fits *fits, const struct instance *instance, uint32_t target,
                     const struct ttft_sample *sample);
void ttft_fits_forget(struct ttft_fits *fits, uint32_t target);

struct ttft_line ttft_fit_line(struct ttft_fits *fits, const struct instance *instance,
                               uint32_t target);

/* tokens: Q + U, those that wait at the target and those that it would have to compute. */
static inline double ttft_line_ms(struct ttft_line line, double tokens)
{
	return 1e3 * (line.base + line.slope * tokens);
}

static inline double ttft_line_prefill_rate(struct ttft_line line)
{
	return 1 / line.slope;
}
