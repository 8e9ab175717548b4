/* instances.h - what a policy file says of instances and their replicas. */
#pragma once

#include "policies/core/option.h"
#include "policies/core/policy.h"
#include "spoa/config/loading.h"

/* Level 2: the default instance, then those that are named. */
void instances_load(struct loading *loading, struct policy *policy);
