/* adapted.h - a small world whose policy names LoRA adapters l0, l1, ... of the model "llama". */
#pragma once

#include "policies/state/session_id.h"
#include "tests/policies/world.h"

enum { ADAPTED_MAX = 64 };

struct adapted {
	struct world *world;
	struct adapter_policy adapters[ADAPTED_MAX];
	char model[16];
};

static inline struct adapted *adapted_new(size_t instances, size_t replicas, uint32_t adapters)
{
	struct adapted *adapted = calloc(1, sizeof(*adapted));
	struct policy *policy;

	assert_non_null(adapted);
	assert_true(adapters <= ADAPTED_MAX);
	adapted->world = world_new(instances, replicas);
	policy = &adapted->world->policy;
	for (uint32_t i = 0; i < adapters; i++) {
		snprintf(adapted->adapters[i].name, NAME_MAX_BYTES, "l%u", i);
		snprintf(adapted->adapters[i].model, NAME_MAX_BYTES, "llama");
	}
	policy->adapters = adapted->adapters;
	policy->adapter_count = adapters;
	facts_set_policy(adapted->world->facts, policy);
	return adapted;
}

static inline void adapted_free(struct adapted *adapted)
{
	world_free(adapted->world);
	free(adapted);
}

/* For adapter number i, at instance a alone. */
static inline struct request adapted_ask(struct adapted *adapted, uint32_t i)
{
	struct request request = world_ask(adapted->world);

	snprintf(adapted->model, sizeof(adapted->model), "l%u", i);
	request.model = SPAN(adapted->model);
	request.backend = SPAN("a");
	return request;
}

/* Decided, and left open. */
static inline struct decision adapted_send(struct adapted *adapted, uint32_t i)
{
	return world_decide(adapted->world, adapted_ask(adapted, i));
}

/* The server of instance a that comes at this place, from 0, in the adapter's order. */
static inline const char *adapted_order(const struct adapted *adapted, uint32_t i, uint32_t place)
{
	const struct instance *instance = world_instance(adapted->world, "a");
	struct rendezvous rendezvous;
	uint64_t below = UINT64_MAX;
	uint32_t best = 0;

	rendezvous_begin(&rendezvous, SPAN(adapted->adapters[i].name));
	for (uint32_t k = 0; k <= place; k++) {
		uint64_t most = 0;

		for (uint32_t r = 0; r < instance->replica_count; r++) {
			uint64_t weight =
			        rendezvous_weight(&rendezvous, instance->replicas[r].target->label);

			if (weight < most || weight >= below)
				continue;
			most = weight;
			best = r;
		}
		below = most;
	}
	return fleet_replica_name(&instance->replicas[best], 0);
}

static inline uint32_t adapted_target(const struct adapted *adapted, const char *server)
{
	return world_replica(adapted->world, "a", server)->target->id;
}
