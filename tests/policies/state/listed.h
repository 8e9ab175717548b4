/* listed.h - a small fleet that is told of servers, one line each. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/policy.h"
#include "policies/core/rng.h"
#include "policies/state/fleet.h"

#define SPAN(text) ((struct span){ (text), strlen(text) })

static const struct fleet_limits limits = { .instances = 4, .replicas = 8, .models = 6 };

static uint32_t gone[64];
static int gone_count;

static inline void on_gone(void *data, uint32_t target)
{
	(void)data;
	gone[gone_count++] = target;
}

static inline int open_fleet(void **state)
{
	gone_count = 0;
	*state = fleet_new(&limits);
	return *state ? 0 : -1;
}

static inline int close_fleet(void **state)
{
	fleet_free(*state);
	return 0;
}

static inline struct server_fact server(const char *backend, const char *name, const char *address)
{
	return (struct server_fact){ .backend = SPAN(backend),
		                     .server = SPAN(name),
		                     .address = SPAN(address),
		                     .weight = 1,
		                     .up = true };
}

static inline struct fleet_change apply(void *fleet, uint32_t source,
                                        const struct server_fact *facts, size_t count)
{
	return fleet_apply(fleet, source, facts, count, 5 * SECOND, on_gone, NULL);
}

static inline const struct instance *instance(void *fleet, const char *name)
{
	return fleet_instance_named(fleet, SPAN(name));
}

static inline const struct replica *replica(void *fleet, const char *backend, const char *name)
{
	assert_non_null(instance(fleet, backend));
	return fleet_replica_named(fleet, instance(fleet, backend), 0, SPAN(name));
}

static inline uint32_t id_at(void *fleet, const char *address)
{
	struct target *target = fleet_target_at(fleet, SPAN(address));

	return target ? target->id : TARGET_NONE;
}
