/* health.c - keep who is not DOWN, suspect or ejected, and of those on trial one.
 *
 * An instance falls only when HAProxy has nobody left to send to in it; whether
 * its replicas only look bad is level 2's business. There, when all look bad, the
 * detector is the likelier culprit: the stage is undone. */
#include "policies/stages/health.h"

#include "policies/stages/collect.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

bool health_fit(const struct walk *walk, const struct replica *replica)
{
	return replica->up && health_takes(walk->facts->health, replica->target->id, walk->now);
}

static bool keeps(const struct walk *walk, const struct candidate *candidate)
{
	const struct instance *instance = candidate->instance;

	if (candidate->replica)
		return health_fit(walk, candidate->replica);
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (replica->up && collect_usable(walk, replica))
			return true;
	}
	return false;
}

static bool needed(const struct walk *walk)
{
	return walk->some_down || health_any_out(walk->facts->health, walk->now);
}

const struct stage stage_health = {
	.name = "health",
	.help = "Drops candidates that HAProxy calls down, that just refused a connection, or that "
	        "fail.",
	.keep = keeps,
	.needed = needed,
	.when_empty = { EMPTY_FALLBACK, EMPTY_UNDO },
};
