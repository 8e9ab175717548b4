/* e2e.c - the average time of a whole request, as answers taught it. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	(void)walk;
	if (!candidate->load || candidate->load->e2e_ms < 0)
		return false;
	*ret_value = candidate->load->e2e_ms;
	return true;
}

const struct signal signal_e2e = {
	.name = "e2e",
	.help = "Average time of a whole request.",
	.scale = SCALE_MINMAX,
	.reads_load = true,
	.read = read,
};
