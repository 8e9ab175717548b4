/* random.c - any of those standing, each as likely as the other. */
#include "policies/core/rng.h"
#include "policies/pickers/pickers.h"

static size_t pick(struct walk *walk, const void *settings)
{
	(void)settings;
	return rng_below(walk->rng, walk->standing);
}

const struct picker picker_random = {
	.name = "random",
	.help = "Takes any target, each as likely as the other.",
	.pick = pick,
};
