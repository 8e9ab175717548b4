/* tokens.c - work in flight in tokens: a long prompt weighs more than a short one. */
#include "policies/signals/signals.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	(void)walk;
	*ret_value = candidate->tokens;
	return true;
}

const struct signal signal_tokens = {
	.name = "tokens",
	.help = "Tokens in flight: prompts still to be computed, and a part of all that is "
	        "resident.",
	.scale = SCALE_MINMAX,
	.read = read,
};
