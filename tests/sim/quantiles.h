/* quantiles.h - any number of times in a fixed table, good to one part in 64. Pure. */
#pragma once

#include <stdint.h>

enum { QUANTILES_FINE = 64, QUANTILES_CELLS = 40 * QUANTILES_FINE };

/* All zero is empty. */
struct quantiles {
	uint64_t count, sum, max;
	uint64_t cells[QUANTILES_CELLS];
};

void quantiles_add(struct quantiles *quantiles, uint64_t value);

/* The value below which this share (0..1) of all lies; 0 when there are none. */
uint64_t quantiles_at(const struct quantiles *quantiles, double share);
