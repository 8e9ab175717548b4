/* sources.c - what several pages say of a replica, worked out in one place. */
#include "spoa/admin/sources.h"

#include <string.h>

#define AS_NAME(id, name) name,
const char *const replica_state_names[REPLICA_STATE_COUNT] = { REPLICA_STATES(AS_NAME) };
#undef AS_NAME

const char *replica_label(const struct fleet *fleet, const struct instance *instance,
                          const struct replica *replica)
{
	uint32_t source = 0;
	const char *name;

	while (source < SOURCES_MAX && fleet_replica_name(replica, source)[0] == '\0')
		source++;
	if (source == SOURCES_MAX || replica->target->ranks > 0)
		return replica->target->label; /* ranks have one name together */
	name = fleet_replica_name(replica, source);
	for (uint32_t before = 0; before < source; before++) {
		struct span spelled = { name, strlen(name) };

		if (fleet_replica_named(fleet, instance, before, spelled))
			return replica->target->label;
	}
	return name;
}

enum replica_state replica_state(const struct sources *sources, const struct replica *replica)
{
	const struct health *health = sources->facts->health;
	uint32_t id = replica->target->id;
	enum health_state state = health_state(health, id, sources->now);

	if (!replica->usable)
		return REPLICA_DISABLED;
	if (!replica->up)
		return REPLICA_DOWN;
	if (state == HEALTH_EJECTED)
		return REPLICA_EJECTED;
	if (state == HEALTH_HALF_OPEN)
		return REPLICA_HALF_OPEN;
	if (state == HEALTH_STALLED || health_suspect(health, id, sources->now))
		return REPLICA_SUSPECT;
	if (health_backing_off(health, id, sources->now))
		return REPLICA_BUSY;
	return state == HEALTH_RAMP ? REPLICA_RAMP : REPLICA_UP;
}

bool replica_saturation(const struct sources *sources, const struct replica *replica,
                        double *ret_ratio)
{
	const struct facts *facts = sources->facts;
	uint32_t id = replica->target->id;
	const struct engine_page *page =
	        engines_page(facts->engines, id, sources->now, facts->policy->stale_after);
	double most = -1;

	if (replica->max_running > 0)
		most = ledger_running(facts->ledger, id, sources->now) / replica->max_running;
	if (page && page->waiting >= 0 && page->waiting / 5 > most)
		most = page->waiting / 5;
	if (page && page->kv_usage >= 0 && page->kv_usage / 0.8 > most)
		most = page->kv_usage / 0.8;
	if (most < 0)
		return false;
	*ret_ratio = most;
	return true;
}

struct instance_sums instance_sums(const struct sources *sources, const struct instance *instance)
{
	struct instance_sums sums = { .queued = -1, .saturation = -1 };
	double total = 0;
	uint32_t known = 0;

	/* Those that wait for any of its servers. */
	(void)engines_queue(sources->facts->engines, instance->target->id, sources->now, 0,
	                    &sums.queued);
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];
		double value;

		if (engines_queue(sources->facts->engines, replica->target->id, sources->now, 0,
		                  &value))
			sums.queued = (sums.queued < 0 ? 0 : sums.queued) + value;
		if (replica_state(sources, replica) < REPLICA_BUSY)
			continue;
		sums.ready++;
		if (replica_saturation(sources, replica, &value)) {
			total += value;
			known++;
		}
	}
	if (known > 0)
		sums.saturation = total / known;
	return sums;
}
