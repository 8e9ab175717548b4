/* rules.h - what a policy file says of models: rules and aliases. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

/* Level 1: the default rule, one for each model that says more than its aliases,
 * then the rules. */
void rules_load(struct loading *loading, struct policy *policy);
