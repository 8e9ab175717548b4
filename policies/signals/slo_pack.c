/* slo_pack.c - who is the fullest that would still serve the request in time.
 *
 * A target that keeps a tenth of the objective in reserve is the better the less headroom
 * it has beyond; any other is worse than all of those, and the better the more it has. With
 * headroom h as a natural value: 1 - h / 2 from h = 0.1 on, else 0.45 / (1 - h). */
#include "policies/signals/headroom.h"
#include "policies/signals/signals.h"

static const double reserve = 0.1;
static const double rounding = 1e-9;

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	struct headroom headroom;

	if (!headroom_read(walk, candidate, &headroom))
		return false;
	*ret_value = headroom.value >= reserve - rounding
	                     ? 1 - headroom.value / 2
	                     : (1 - reserve) / 2 / (1 - headroom.value);
	return true;
}

const struct signal signal_slo_pack = {
	.name = "slo-pack",
	.help = "How full the target would be that still serves the request within its "
	        "objectives.",
	.scale = SCALE_NATURAL,
	.more_is_better = true,
	.level1 = LEVEL1_MOST,
	.reads_load = true,
	.read = read,
};
