/* predicted_ttft.c - when the first token would come, by what this target taught.
 *
 * Its line of time over tokens (policies/state/ttft_fit.h), at what waits there already and
 * what it would have to compute of this prompt. A holder with a queue wins until the queue
 * costs more than what it saves. */
#include "policies/signals/signals.h"
#include "policies/state/facts.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	struct ttft_line line =
	        ttft_fit_line(walk->facts->ttft_fits, candidate->instance, candidate->target->id);

	*ret_value = ttft_line_ms(line, candidate->prefill_tokens + candidate->uncached_tokens);
	return true;
}

const struct signal signal_predicted_ttft = {
	.name = "predicted-ttft",
	.help = "Time to first token as predicted from waiting and uncached prompt tokens.",
	.scale = SCALE_MINMAX,
	.level1 = LEVEL1_LEAST,
	.read = read,
};
