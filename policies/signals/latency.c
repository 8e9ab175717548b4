/* latency.c - how long the whole request would take.
 *
 * The predicted time to first token plus the expected answer at the engine's time per token;
 * where the engine does not tell that, the average of whole requests. */
#include "policies/signals/signals.h"
#include "policies/state/facts.h"

static bool read_average(const struct walk *walk, const struct candidate *candidate,
                         double *ret_value)
{
	if (candidate->load && candidate->load->e2e_ms < 0)
		return false;
	if (candidate->load) {
		*ret_value = candidate->load->e2e_ms;
		return true;
	}
	return average_plain(&averages_of(walk->facts->averages, candidate->target->id)->e2e_ms,
	                     walk->now, ret_value);
}

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	double first, each;

	if (!rates_tpot(walk->facts->rates, candidate->target->id, walk->now, &each) ||
	    !signal_predicted_ttft.read(walk, candidate, &first))
		return read_average(walk, candidate, ret_value);
	*ret_value = first + each * walk->prompt->output_tokens;
	return true;
}

const struct signal signal_latency = {
	.name = "latency",
	.help = "Time of the whole request, predicted where the engine tells its time per token.",
	.scale = SCALE_MINMAX,
	.level1 = LEVEL1_LEAST,
	.reads_load = true,
	.read = read,
};
