/* quantiles.c - cells as wide as 1/64 of what they count, as floating point numbers are. */
#include "tests/sim/quantiles.h"

static unsigned cell_of(uint64_t value)
{
	unsigned shift = 0;

	while (value >= 2UL * QUANTILES_FINE) {
		value >>= 1;
		shift++;
	}
	shift = shift * QUANTILES_FINE + (unsigned)value;
	return shift < QUANTILES_CELLS ? shift : QUANTILES_CELLS - 1;
}

/* The smallest value of a cell. */
static uint64_t value_of(unsigned cell)
{
	unsigned shift = cell < 2 * QUANTILES_FINE ? 0 : cell / QUANTILES_FINE - 1;

	return (uint64_t)(cell - shift * QUANTILES_FINE) << shift;
}

void quantiles_add(struct quantiles *quantiles, uint64_t value)
{
	quantiles->count++;
	quantiles->sum += value;
	if (value > quantiles->max)
		quantiles->max = value;
	quantiles->cells[cell_of(value)]++;
}

uint64_t quantiles_at(const struct quantiles *quantiles, double share)
{
	double below = share * (double)quantiles->count;
	uint64_t seen = 0;

	for (unsigned i = 0; i < QUANTILES_CELLS; i++) {
		seen += quantiles->cells[i];
		if (quantiles->cells[i] > 0 && (double)seen >= below)
			return value_of(i);
	}
	return 0;
}
