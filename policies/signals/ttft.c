/* ttft.c - the average time to first token, as answers taught it. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	(void)walk;
	if (!candidate->load || candidate->load->ttft_ms < 0)
		return false;
	*ret_value = candidate->load->ttft_ms;
	return true;
}

const struct signal signal_ttft = {
	.name = "ttft",
	.help = "Average time to first token.",
	.scale = SCALE_MINMAX,
	.reads_load = true,
	.read = read,
};
