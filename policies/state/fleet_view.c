/* fleet_view.c - instances and replicas as everybody else sees them, laid out
 * from what the HAProxies said and what the policy adds. */
#include "policies/core/bug.h"
#include "policies/state/fleet.h"
#include "policies/state/fleet_parts.h"

const char *const role_names[ROLE_COUNT] = { "combined", "prefill", "decode" };

/* What the policy says of this server; under the name that any HAProxy has for it, or
 * its address. NULL: nothing. */
static const struct replica_policy *replica_policy_of(const struct instance_policy *policy,
                                                      const struct member *member,
                                                      const struct target *target)
{
	struct span at = target_address(target);
	char address[NAME_MAX_BYTES] = "";
	const char *names[1 + SOURCES_MAX] = { address };

	memcpy(address, at.at, at.len);
	for (uint32_t source = 0; source < SOURCES_MAX; source++)
		names[1 + source] = member->name[source];
	return policy_replica(policy, names, 1 + SOURCES_MAX);
}

/* A small number for the label: the place of the first that has it. Below the number of
 * targets, so that tables by target have room for it. */
static uint16_t roleset_of(const struct fleet *fleet, const struct instance_policy *policy,
                           const struct replica_policy *own)
{
	uint32_t i = 0;

	if (own->roleset[0] == '\0')
		return 0;
	while (strcmp(policy->replicas[i].roleset, own->roleset) != 0)
		i++;
	return (uint16_t)(i + 1 < fleet->targets_max ? i + 1 : 0);
}

static void configure(const struct fleet *fleet, struct instance *instance, struct replica *replica,
                      const struct replica_policy *own)
{
	if (!own)
		return;
	replica->policy = own;
	replica->weight *= own->weight;
	replica->role = (uint8_t)own->role;
	replica->roleset = roleset_of(fleet, instance->policy, own);
	instance->has_roles |= own->role != ROLE_COMBINED;
	instance->has_ranges |= own->min_prompt > 0 || own->max_prompt > 0;
}

/* Where HAProxies differ the worst counts: only one of them would be wrong. */
static void merge_said(const struct member *member, struct replica *ret_replica)
{
	bool first = true;
	bool unlimited = false;

	ret_replica->usable = ret_replica->up = true;
	for (uint32_t source = 0; source < SOURCES_MAX; source++) {
		const struct said *said = &member->said[source];

		if (!said->listed)
			continue;
		if (first || said->weight < ret_replica->weight)
			ret_replica->weight = said->weight;
		first = false;
		ret_replica->usable &= !said->maintenance && !said->draining;
		ret_replica->up &= said->up;
		unlimited |= said->max_running == 0;
		ret_replica->max_running += said->max_running;
	}
	if (unlimited)
		ret_replica->max_running = 0;
}

/* A rank's part of what HAProxy says of the server as a whole. */
static void take_part(struct replica *replica, const struct replica_policy *own)
{
	struct target *target = replica->target;
	uint32_t ranks = own && target_address(target).len < strlen(target->label) ? own->ranks : 0;

	target->ranks = (uint16_t)ranks;
	if (ranks == 0)
		return;
	replica->weight /= ranks;
	replica->max_running = (replica->max_running + ranks - 1) / ranks;
}

static void lay_out_instances(struct fleet *fleet)
{
	fleet->instance_count = 0;
	for (uint32_t i = 0; i < fleet->homes_end; i++) {
		struct home *home = &fleet->homes[i];
		struct instance *instance = &fleet->instances[fleet->instance_count];

		if (!home->used)
			continue;
		home->place = fleet->instance_count++;
		*instance = (struct instance){ .target = &fleet->targets[home->target],
			                       .policy = home->policy,
			                       .weight = home->policy ? home->policy->weight : 1 };
		memcpy(instance->name, home->name, sizeof(instance->name));
		if (instance->target->held)
			instance->weight = 0;
	}
	for (uint32_t i = 0; i < fleet->members_end; i++)
		if (fleet->members[i].used)
			fleet->instances[fleet->homes[fleet->members[i].home].place]
			        .replica_count++;
	fleet->replica_count = 0;
	for (uint32_t i = 0; i < fleet->instance_count; i++) {
		fleet->instances[i].replicas = &fleet->replicas[fleet->replica_count];
		fleet->replica_count += fleet->instances[i].replica_count;
		fleet->instances[i].replica_count = 0; /* counted again as they are filled in */
	}
}

static void lay_out_replica(struct fleet *fleet, const struct member *member)
{
	const struct home *home = &fleet->homes[member->home];
	struct instance *instance = &fleet->instances[home->place];
	struct replica *replica = &instance->replicas[instance->replica_count++];
	uint32_t place = (uint32_t)(replica - fleet->replicas);
	const struct replica_policy *own;

	memcpy(fleet->names[place], member->name, sizeof(member->name));
	*replica = (struct replica){ .target = &fleet->targets[member->target],
		                     .name = (const char(*)[NAME_MAX_BYTES])fleet->names[place] };
	merge_said(member, replica);
	own = replica_policy_of(home->policy, member, replica->target);
	take_part(replica, own);
	configure(fleet, instance, replica, own);
	replica->usable &= replica->weight > 0 && !replica->target->held;
	instance->some_down |= replica->usable && !replica->up;
	instance->weights_differ |=
	        replica->usable && replica->weight != instance->replicas[0].weight;
	lookup_add(fleet->by_target, pair_hash(home->place, member->target), place);
	for (uint32_t source = 0; source < SOURCES_MAX; source++) {
		if (replica->name[source][0] == '\0')
			continue;
		replica->sources |= (uint8_t)(1u << source);
		lookup_add(
		        fleet->by_name,
		        lookup_hash(span_of(replica->name[source]), pair_hash(home->place, source)),
		        place);
	}
}

void fleet_view(struct fleet *fleet)
{
	lay_out_instances(fleet);
	lookup_clear(fleet->by_name);
	lookup_clear(fleet->by_target);
	for (uint32_t i = 0; i < fleet->members_end; i++)
		if (fleet->members[i].used)
			lay_out_replica(fleet, &fleet->members[i]);
	fleet_view_models(fleet);
}

void fleet_hold(struct fleet *fleet, uint32_t target, bool held)
{
	BUG_ON(target >= fleet->targets_max);
	fleet->targets[target].held = held;
	fleet_view(fleet);
}

void fleet_bind(struct fleet *fleet, const struct policy *policy)
{
	fleet->policy = policy;
	for (uint32_t i = 0; i < fleet->homes_end; i++)
		if (fleet->homes[i].used)
			fleet->homes[i].policy = policy_instance(policy, fleet->homes[i].name);
	fleet_view(fleet);
}
