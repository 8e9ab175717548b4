/* role.c - keep who serves the model, takes prompts of this length, and may be sent
 * whole requests. Of an instance: one of its replicas does, or nothing is known of
 * them.
 *
 * A prefill replica stands only where a pair may be chosen: what it answers is no
 * answer for a client. */
#include "policies/core/policy.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static const double rounding = 1e-9;

static bool fits(const struct walk *walk, const struct replica_policy *policy)
{
	double tokens = walk->prompt->tokens;

	return !policy || (tokens >= policy->min_prompt - rounding &&
	                   (policy->max_prompt <= 0 || tokens <= policy->max_prompt + rounding));
}

static bool replica_serves(const struct walk *walk, const struct instance *instance,
                           const struct replica *replica)
{
	if (instance->has_ranges && !fits(walk, replica->policy))
		return false;
	return !replica->models_known ||
	       fleet_replica_serves(walk->facts->fleet, instance, replica, walk->model);
}

static bool serves(const struct walk *walk, const struct candidate *candidate)
{
	const struct instance *instance = candidate->instance;

	if (candidate->replica)
		return (candidate->replica->role != ROLE_PREFILL || walk->wants_pairs) &&
		       replica_serves(walk, instance, candidate->replica);
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (replica->role != ROLE_PREFILL && replica_serves(walk, instance, replica))
			return true;
	}
	return instance->replica_count == 0;
}

static bool needed(const struct walk *walk)
{
	if (walk->level == 1)
		return true;
	return (walk->model != 0 && walk->models_known) || walk->instance->has_roles ||
	       walk->instance->has_ranges;
}

const struct stage stage_role = {
	.name = "role",
	.help = "Drops candidates that do not serve the model, or prompts of this length, or whole "
	        "requests.",
	.keep = serves,
	.needed = needed,
	.when_empty = { EMPTY_FALLBACK, EMPTY_FALLBACK },
};
