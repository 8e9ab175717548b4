/* lora.c - how well a target is placed to serve the LoRA adapter of the request. */
#include "policies/signals/signals.h"
#include "policies/state/lora_look.h"

static bool read(const struct walk *walk, const struct candidate *candidate, double *ret_value)
{
	if (walk->adapter.id == 0)
		return false;
	*ret_value = lora_scale(walk->facts, candidate->target->id, walk->adapter.id, walk->now);
	return true;
}

const struct signal signal_lora = {
	.name = "lora",
	.help = "Whether the request's LoRA adapter is there: 1; 0.8 for a free slot, 0.6 if it "
	        "waits for one, 0 if there is none.",
	.scale = SCALE_NATURAL,
	.more_is_better = true,
	.level1 = LEVEL1_MOST,
	.read = read,
};
