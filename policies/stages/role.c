/* role.c - keep who serves the model. Of an instance: one of its replicas does,
 * or nothing is known of them. */
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static bool replica_serves(const struct walk *walk, const struct instance *instance,
                           const struct replica *replica)
{
	return !replica->models_known ||
	       fleet_replica_serves(walk->facts->fleet, instance, replica, walk->model);
}

static bool serves(const struct walk *walk, const struct candidate *candidate)
{
	const struct instance *instance = candidate->instance;

	if (candidate->replica)
		return replica_serves(walk, instance, candidate->replica);
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		if (replica_serves(walk, instance, &instance->replicas[i]))
			return true;
	}
	return instance->replica_count == 0;
}

static bool needed(const struct walk *walk)
{
	return walk->model != 0 && walk->models_known;
}

const struct stage stage_role = {
	.name = "role",
	.help = "Drops candidates that do not serve the model.",
	.keep = serves,
	.needed = needed,
	.when_empty = { EMPTY_FALLBACK, EMPTY_FALLBACK },
};
