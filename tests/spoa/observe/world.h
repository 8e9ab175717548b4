/* world.h - facts with a fleet of one instance, and a clock that is a number. */
#pragma once

#include "policies/defaults.h"
#include "spoa/observe/observe.h"
#include "tests/spoa/observe/fixture.h"

struct world {
	struct policy policy;
	struct facts *facts;
};

static usec_t world_clock = 1000 * SECOND; /* each test moves it on */

static inline usec_t world_now(void)
{
	return world_clock;
}

static inline void world_open(struct world *world)
{
	struct fleet_limits limits = { .instances = 8, .replicas = 64, .models = 64 };

	policy_default(&world->policy);
	world->policy.prefix.max_records = 1024;
	world->policy.max_inflight = 256;
	world->facts = facts_new(&world->policy, &limits);
	if (!world->facts)
		abort();
}

static inline void world_close(struct world *world)
{
	facts_free(world->facts);
}

/* One HAProxy's list: servers of one backend, up, in the order given. */
static inline void world_servers(struct world *world, const char *const *addresses, size_t count)
{
	static const char *const names[] = { "s1", "s2", "s3", "s4" };
	struct server_fact servers[4];

	for (size_t i = 0; i < count; i++)
		servers[i] = (struct server_fact){ .backend = span_of("svc"),
			                           .server = span_of(names[i]),
			                           .address = span_of(addresses[i]),
			                           .weight = 100,
			                           .up = true };
	(void)fleet_apply(world->facts->fleet, 0, servers, count, world_now(), facts_forget,
	                  world->facts);
}

/* Target id of an address; TARGET_NONE when nobody lists it. */
static inline uint32_t world_target(const struct world *world, const char *address)
{
	const struct target *target = fleet_target_at(world->facts->fleet, span_of(address));

	return target ? target->id : TARGET_NONE;
}
