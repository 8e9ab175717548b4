/* tenants.h - what a policy file says of callers, and how much may be used of a model. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

void tenants_load(const struct loading *loading, struct policy *policy);
