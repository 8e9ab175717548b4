/* slo.c - who would serve the request best within its objectives.
 *
 * Headroom h (headroom.h) as a natural value: (1 + h) / 2 in time, 1 / (2 (1 - h)) too late.
 * Both are 1/2 at h = 0 and rise with h; too late, it is half of objective / predicted, so
 * that a smaller miss is better however large all are. */
#include "policies/signals/headroom.h"
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	struct headroom headroom;

	if (!headroom_read(walk, candidate, &headroom))
		return false;
	*ret_value = headroom.value >= 0 ? (1 + headroom.value) / 2 : 0.5 / (1 - headroom.value);
	return true;
}

const struct signal signal_slo = {
	.name = "slo",
	.help = "How far the target would stay within the request's objectives.",
	.scale = SCALE_NATURAL,
	.more_is_better = true,
	.level1 = LEVEL1_MOST,
	.reads_load = true,
	.read = read,
};
