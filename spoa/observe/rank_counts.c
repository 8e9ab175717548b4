/* rank_counts.c - whole numbers: what does not divide goes to the first ones. */
#include "spoa/observe/rank_counts.h"

static void add_equally(uint32_t ranks, uint32_t more, uint32_t *counts)
{
	for (uint32_t i = 0; i < ranks; i++)
		counts[i] += more / ranks + (i < more % ranks);
}

/* Who has less than its part leaves more to the others. */
static void take_equally(uint32_t ranks, uint32_t less, uint32_t *counts)
{
	while (less > 0) {
		uint32_t able = 0, part;

		for (uint32_t i = 0; i < ranks; i++)
			able += counts[i] > 0;
		part = less > able ? less / able : 1;
		for (uint32_t i = 0; i < ranks && less > 0; i++) {
			uint32_t taken = counts[i] < part ? counts[i] : part;

			taken = taken < less ? taken : less;
			counts[i] -= taken;
			less -= taken;
		}
	}
}

void rank_counts(const uint32_t *ours, uint32_t ranks, uint32_t counted, uint32_t *ret_counted)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ranks; i++) {
		ret_counted[i] = ours[i];
		sum += ours[i];
	}
	if (counted >= sum)
		add_equally(ranks, (uint32_t)(counted - sum), ret_counted);
	else
		take_equally(ranks, (uint32_t)(sum - counted), ret_counted);
}
