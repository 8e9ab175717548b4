/* running.c - requests in flight, as our own ledger counts them.
 *
 * The one signal that is never late: a slot is taken in the same loop turn as
 * the decision, so the next request already sees it. Compared after division by
 * the server's weight, and with a penalty for a target that fails: who answers
 * 500 in a millisecond always has the least in flight. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	(void)walk;
	*ret_value = candidate->running_scored;
	return true;
}

const struct signal signal_running = {
	.name = "running",
	.help = "Requests in flight, by weight.",
	.scale = SCALE_MINMAX,
	.min_spread = 4,
	.read = read,
};
