/* health.h - what a policy file says of ejection and probes, beside its table of options. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

/* object: "health"; may be NULL. */
void health_load(const struct loading *loading, const struct node *object,
                 struct health_policy *health);
