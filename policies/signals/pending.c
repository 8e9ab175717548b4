/* pending.c - requests that wait for an engine, of ours and of others. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	(void)walk;
	if (!candidate->load || candidate->load->pending < 0)
		return false;
	*ret_value = candidate->load->pending;
	return true;
}

const struct signal signal_pending = {
	.name = "pending",
	.help = "Requests waiting in the engine and in HAProxy's queue.",
	.scale = SCALE_MINMAX,
	.reads_load = true,
	.read = read,
};
