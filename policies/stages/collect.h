/* collect.h - who could be chosen at all, in the order of the configuration. */
#pragma once

#include "policies/stages/scratch.h"

/* Instance i of those the matched rule names, or of those that serve the model
 * when it names none; NULL where the name is not known to HAProxy. */
size_t collect_preset_count(const struct walk *walk);
const struct instance *collect_preset(const struct walk *walk, size_t i);

/* HAProxy may send this request to it: in service there, with weight, and known
 * to the process that asks. */
static inline bool collect_usable(const struct walk *walk, const struct replica *replica)
{
	return replica->usable && (replica->sources & walk->scratch->source);
}
