/* kv_pool.c - whether there is a store, and how far it reaches. */
#include "policies/stages/kv_pool.h"

#include "policies/core/policy.h"
#include "policies/stages/scratch.h"

bool kv_pool_is_shared(const struct facts *facts, const struct instance *instance)
{
	const struct instance_policy *policy =
	        instance->policy ? instance->policy : &facts->policy->default_instance;

	return policy->kv_pool == KV_SHARED;
}

uint32_t kv_pool_blocks(const struct walk *walk, const struct instance *instance)
{
	const struct holding *holding;

	if (!walk->scratch->any_match || !kv_pool_is_shared(walk->facts, instance))
		return 0;
	holding = &walk->scratch->holdings[instance->target->id];
	return holding->stamp == walk->scratch->stamp ? holding->blocks : 0;
}
