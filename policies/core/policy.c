/* policy.c - what a policy says of one instance, and of one server. */
#include "policies/core/policy.h"

#include <string.h>

#include "policies/core/pattern.h"

const struct instance_policy *policy_instance(const struct policy *policy, const char *name)
{
	for (uint32_t i = 0; policy && i < policy->instance_count; i++)
		if (strcmp(policy->instances[i].name, name) == 0)
			return &policy->instances[i];
	return NULL;
}

const struct replica_policy *policy_replica(const struct instance_policy *policy,
                                            const char *const *names, size_t count)
{
	for (uint32_t i = 0; policy && i < policy->replica_count; i++)
		for (size_t k = 0; k < count; k++)
			if (pattern_fits(policy->replicas[i].name, names[k]))
				return &policy->replicas[i];
	return NULL;
}
