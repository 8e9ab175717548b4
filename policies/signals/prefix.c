/* prefix.c - the share of the prompt that a target holds and not all others do. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	const struct prompt *prompt = walk->prompt;

	if (prompt->blocks == 0 || prompt->total_bytes == 0)
		return false;
	*ret_value = candidate->hit ? candidate->effective / (double)prompt->total_bytes : 0;
	return true;
}

const struct signal signal_prefix = {
	.name = "prefix",
	.help = "Share of the prompt in the target's cache, as far as it counts as a hit.",
	.scale = SCALE_NATURAL,
	.more_is_better = true,
	.read = read,
};
