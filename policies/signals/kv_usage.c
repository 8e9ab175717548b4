/* kv_usage.c - the share of its KV cache that the engine reports as in use. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	(void)walk;
	if (!candidate->load || candidate->load->kv_usage < 0)
		return false;
	*ret_value = candidate->load->kv_usage;
	return true;
}

const struct signal signal_kv_usage = {
	.name = "kv-usage",
	.help = "Share of the KV cache in use.",
	.scale = SCALE_NATURAL,
	.reads_load = true,
	.read = read,
};
