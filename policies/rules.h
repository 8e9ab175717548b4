/* rules.h - which rule a request falls under. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/route.h"

/* The most specific of those that match: by host (exact, the longest "*.suffix",
 * any), then by path (the longest), then by model (exact, the longest "x*", any).
 * The policy's default where none does. model: the name the request's one stands
 * for. */
const struct rule *rule_for(const struct policy *policy, const struct request *request,
                            struct span model);
