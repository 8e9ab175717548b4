/* fleet_missed.c - models that an engine says it serves, and answers 404 for.
 *
 * Between the list and the answer the list is the older word: an adapter was unloaded, a
 * server was started anew with another model. So the answer counts at once, and the next
 * list settles it. What the policy promises may go missing, too, and comes back when the
 * engine lists the name, or the one that is sent there instead. */
#include "policies/state/fleet_parts.h"

static bool is_listed(struct span name, const struct span *models, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (name.len == models[i].len && memcmp(name.at, models[i].at, name.len) == 0)
			return true;
	return false;
}

/* By its own name, or by the one that is sent there. */
static bool is_back(const struct fleet *fleet, uint32_t target, uint32_t model,
                    const struct span *models, size_t count)
{
	if (is_listed(span_of(fleet->models[model].name), models, count))
		return true;
	for (uint32_t i = 0; i < fleet->instance_count; i++) {
		const struct instance *instance = &fleet->instances[i];

		if (fleet_policy_names_models(instance) && instance->policy->upstream_model[0] &&
		    fleet_replica_of_target(fleet, instance, target) &&
		    is_listed(span_of(instance->policy->upstream_model), models, count))
			return true;
	}
	return false;
}

/* What is still missing by this list. */
void fleet_keep_missed(const struct fleet *fleet, uint32_t target, const struct span *models,
                       size_t count, struct served_models *served)
{
	const struct served_models *before = &fleet->served[target];

	for (uint32_t i = 0; i < before->missed_count; i++)
		if (!is_back(fleet, target, before->missed[i], models, count))
			served->missed[served->missed_count++] = before->missed[i];
}

bool fleet_is_missed(const struct served_models *served, uint32_t model)
{
	for (uint32_t i = 0; i < served->missed_count; i++)
		if (served->missed[i] == model)
			return true;
	return false;
}

static bool other_serves(const struct fleet *fleet, const struct instance *instance,
                         uint32_t target, uint32_t model)
{
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (replica->target->id != target && replica->usable && replica->up &&
		    fleet_replica_serves(fleet, instance, replica, model))
			return true;
	}
	return false;
}

bool fleet_miss_model(struct fleet *fleet, const struct instance *instance, uint32_t target,
                      uint32_t model)
{
	struct served_models *served = &fleet->served[target];
	const struct replica *replica = fleet_replica_of_target(fleet, instance, target);

	if (!replica || !served->known || model == 0 || model > fleet->models_end ||
	    !fleet_replica_serves(fleet, instance, replica, model))
		return false;
	if (served->missed_count < MISSED_MAX && other_serves(fleet, instance, target, model))
		served->missed[served->missed_count++] = (uint16_t)model;
	return true;
}
