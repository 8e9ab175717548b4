/* failures.c - how often a target failed lately. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	(void)walk;
	if (!candidate->load)
		return false;
	*ret_value = candidate->load->failures;
	return true;
}

const struct signal signal_failures = {
	.name = "failures",
	.help = "Share of failures among the latest answers.",
	.scale = SCALE_NATURAL,
	.reads_load = true,
	.read = read,
};
