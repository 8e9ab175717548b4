/* fleet.c - making a fleet, and finding who is in it. */
#include "policies/state/fleet.h"

#include <stdlib.h>

#include "policies/core/bug.h"
#include "policies/state/fleet_parts.h"

static bool is_whole(const struct fleet *fleet)
{
	return fleet->targets && fleet->references && fleet->served && fleet->free_targets &&
	       fleet->by_address && fleet->homes && fleet->by_backend && fleet->members &&
	       fleet->by_member && fleet->instances && fleet->replicas && fleet->names &&
	       fleet->by_name && fleet->by_target && fleet->models && fleet->by_model &&
	       fleet->offered && fleet->pairs && fleet->unknown && fleet->everyone;
}

struct fleet *fleet_new(const struct fleet_limits *limits)
{
	uint32_t targets = limits->instances + limits->replicas;
	struct fleet *fleet;

	BUG_ON(limits->instances == 0 || limits->instances > 1024);
	BUG_ON(limits->replicas == 0 || limits->replicas > 16384);
	BUG_ON(limits->models == 0 || limits->models > 4096);
	fleet = calloc(1, sizeof(*fleet));
	if (!fleet)
		return NULL;
	fleet->limits = *limits;
	fleet->targets_max = targets;
	fleet->targets = calloc(targets, sizeof(*fleet->targets));
	fleet->references = calloc(targets, sizeof(*fleet->references));
	fleet->served = calloc(targets, sizeof(*fleet->served));
	fleet->free_targets = calloc(targets, sizeof(*fleet->free_targets));
	fleet->by_address = lookup_new(targets);
	fleet->homes = calloc(limits->instances, sizeof(*fleet->homes));
	fleet->by_backend = lookup_new(limits->instances);
	fleet->members = calloc(limits->replicas, sizeof(*fleet->members));
	fleet->by_member = lookup_new(limits->replicas);
	fleet->instances = calloc(limits->instances, sizeof(*fleet->instances));
	fleet->replicas = calloc(limits->replicas, sizeof(*fleet->replicas));
	fleet->names = calloc(limits->replicas, sizeof(*fleet->names));
	fleet->by_name = lookup_new(limits->replicas * SOURCES_MAX);
	fleet->by_target = lookup_new(limits->replicas);
	fleet->models = calloc((size_t)limits->models + 1, sizeof(*fleet->models));
	fleet->by_model = lookup_new(limits->models);
	fleet->offered = calloc(limits->instances, sizeof(*fleet->offered));
	fleet->pairs =
	        calloc((size_t)limits->instances * INSTANCE_MODELS_MAX, sizeof(struct instance *));
	fleet->unknown = calloc(limits->instances, sizeof(struct instance *));
	fleet->everyone = calloc(limits->instances, sizeof(struct instance *));
	if (!is_whole(fleet)) {
		fleet_free(fleet);
		return NULL;
	}
	while (fleet->free_count < targets) {
		fleet->free_targets[fleet->free_count] = targets - 1 - fleet->free_count;
		fleet->free_count++;
	}
	return fleet;
}

void fleet_free(struct fleet *fleet)
{
	if (!fleet)
		return;
	free(fleet->everyone);
	free(fleet->unknown);
	free(fleet->pairs);
	free(fleet->offered);
	lookup_free(fleet->by_model);
	free(fleet->models);
	lookup_free(fleet->by_target);
	lookup_free(fleet->by_name);
	free(fleet->names);
	free(fleet->replicas);
	free(fleet->instances);
	lookup_free(fleet->by_member);
	free(fleet->members);
	lookup_free(fleet->by_backend);
	free(fleet->homes);
	lookup_free(fleet->by_address);
	free(fleet->free_targets);
	free(fleet->served);
	free(fleet->references);
	free(fleet->targets);
	free(fleet);
}

uint32_t fleet_targets_max(const struct fleet *fleet)
{
	return fleet->targets_max;
}

size_t fleet_instance_count(const struct fleet *fleet)
{
	return fleet->instance_count;
}

const struct instance *fleet_instance_at(const struct fleet *fleet, size_t i)
{
	BUG_ON(i >= fleet->instance_count);
	return &fleet->instances[i];
}

const struct instance *fleet_instance_named(const struct fleet *fleet, struct span name)
{
	uint64_t hash = lookup_hash(name, 0);
	uint32_t at = 0;
	uint32_t home;

	while (lookup_next(fleet->by_backend, hash, &at, &home))
		if (is_name(fleet->homes[home].name, name))
			return &fleet->instances[fleet->homes[home].place];
	return NULL;
}

static uint32_t place_of(const struct fleet *fleet, const struct instance *instance)
{
	return (uint32_t)(instance - fleet->instances);
}

static bool belongs(const struct replica *replica, const struct instance *instance)
{
	return replica >= instance->replicas &&
	       replica < instance->replicas + instance->replica_count;
}

const struct replica *fleet_replica_named(const struct fleet *fleet,
                                          const struct instance *instance, uint32_t source,
                                          struct span name)
{
	const struct replica *first = NULL;
	uint32_t at = 0;
	uint32_t place;
	uint64_t hash;

	if (source >= SOURCES_MAX || name.len == 0)
		return NULL;
	hash = lookup_hash(name, pair_hash(place_of(fleet, instance), source));
	while (lookup_next(fleet->by_name, hash, &at, &place)) {
		const struct replica *replica = &fleet->replicas[place];

		if (!belongs(replica, instance) || !is_name(replica->name[source], name))
			continue;
		if (replica->target->rank == 0)
			return replica;
		first = replica;
	}
	return first;
}

const struct replica *fleet_replica_at_address(const struct fleet *fleet,
                                               const struct instance *instance, struct span address)
{
	const struct target *target = fleet_target_at(fleet, address);

	return target ? fleet_replica_of_target(fleet, instance, target->id) : NULL;
}

const struct replica *fleet_replica_of_target(const struct fleet *fleet,
                                              const struct instance *instance, uint32_t target)
{
	uint64_t hash = pair_hash(place_of(fleet, instance), target);
	uint32_t at = 0;
	uint32_t place;

	while (lookup_next(fleet->by_target, hash, &at, &place)) {
		const struct replica *replica = &fleet->replicas[place];

		if (belongs(replica, instance) && replica->target->id == target)
			return replica;
	}
	return NULL;
}

struct target *fleet_target(const struct fleet *fleet, uint32_t id)
{
	if (id >= fleet->targets_max || fleet->targets[id].kind == TARGET_FREE)
		return NULL;
	return &fleet->targets[id];
}

struct target *fleet_labelled(const struct fleet *fleet, struct span label)
{
	uint64_t hash = lookup_hash(label, 0);
	uint32_t at = 0;
	uint32_t id;

	while (lookup_next(fleet->by_address, hash, &at, &id))
		if (is_name(fleet->targets[id].label, label))
			return &fleet->targets[id];
	return NULL;
}

struct target *fleet_target_at(const struct fleet *fleet, struct span address)
{
	struct target *target = fleet_labelled(fleet, address);
	char label[LABEL_MAX_BYTES];

	if (target || address.len >= ADDRESS_MAX_BYTES)
		return target;
	return fleet_labelled(fleet, fleet_rank_label(address, 0, label));
}

const struct replica *fleet_replica_rank(const struct fleet *fleet, const struct instance *instance,
                                         const struct replica *replica, uint32_t rank)
{
	const struct target *target = replica->target;
	char label[LABEL_MAX_BYTES];

	if (target->ranks == 0 || target->rank == rank)
		return replica;
	if (rank >= target->ranks)
		return NULL;
	target = fleet_labelled(fleet, fleet_rank_label(target_address(target), rank, label));
	return target ? fleet_replica_of_target(fleet, instance, target->id) : NULL;
}

const char *fleet_replica_name(const struct replica *replica, uint32_t source)
{
	return source < SOURCES_MAX ? replica->name[source] : "";
}

bool fleet_skip(struct fleet *fleet, struct span backend)
{
	if (fleet->skipped_count == SKIPPED_MAX || backend.len >= NAME_MAX_BYTES)
		return false;
	memcpy(fleet->skipped[fleet->skipped_count++], backend.at, backend.len);
	return true;
}

bool fleet_keep(struct fleet *fleet, struct span pattern)
{
	if (fleet->kept_count == KEPT_MAX || pattern.len == 0 || pattern.len >= NAME_MAX_BYTES)
		return false;
	memcpy(fleet->kept[fleet->kept_count++], pattern.at, pattern.len);
	return true;
}
