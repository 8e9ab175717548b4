/* deadline.c - objective less the shortest time without a queue.
 *
 * offset = objective - min over candidates of the line of time to first token at the tokens
 * the candidate would have to compute; what waits there already is left out, since it is
 * the queue that is being put in order. */
#include "policies/deadline.h"

#include "policies/state/facts.h"

static double first_token_ms(const struct walk *walk, const struct candidate *candidate)
{
	struct ttft_line line =
	        ttft_fit_line(walk->facts->ttft_fits, candidate->instance, candidate->target->id);

	return ttft_line_ms(line, candidate->uncached_tokens);
}

static double whole_ms(const struct walk *walk, const struct candidate *candidate)
{
	double each = 0;

	(void)rates_tpot(walk->facts->rates, candidate->target->id, walk->now, &each);
	return first_token_ms(walk, candidate) + each * walk->prompt->output_tokens;
}

static double least(const struct walk *walk,
                    double (*reading)(const struct walk *walk, const struct candidate *candidate))
{
	double found = 0;

	for (size_t i = 0; i < walk->count; i++) {
		double value = reading(walk, &walk->pool[i]);

		if (i == 0 || value < found)
			found = value;
	}
	return found;
}

double deadline_offset_ms(const struct walk *walk)
{
	const struct objectives *objectives = &walk->prompt->objectives;
	double offset;

	if (objectives->ttft_ms > 0)
		offset = objectives->ttft_ms - least(walk, first_token_ms);
	else if (objectives->e2e_ms > 0)
		offset = objectives->e2e_ms - least(walk, whole_ms);
	else
		offset = walk->facts->policy->queue.default_ttft_ms - least(walk, first_token_ms);
	if (offset > DEADLINE_OFFSET_MAX_MS)
		return DEADLINE_OFFSET_MAX_MS;
	return offset < -DEADLINE_OFFSET_MAX_MS ? -DEADLINE_OFFSET_MAX_MS : offset;
}
