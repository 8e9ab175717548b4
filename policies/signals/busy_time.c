/* busy_time.c - how many requests a target had at a time over the last minute.
 *
 * A decayed mean over time, so it still tells targets apart that are always busy, and a
 * newcomer does not draw everything: what it took just now counts little yet, what others
 * took a minute ago counts little, too. */
#include "policies/signals/signals.h"
#include "policies/state/facts.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	*ret_value = ledger_busy(walk->facts->ledger, candidate->target->id, walk->now) /
	             candidate->engines;
	return true;
}

const struct signal signal_busy_time = {
	.name = "busy-time",
	.help = "Mean of the requests in flight over the last minute.",
	.scale = SCALE_MINMAX,
	.read = read,
};
