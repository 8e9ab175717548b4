/* rules.h - which rule a request falls under. */
#pragma once

#include "policies/core/model_names.h"
#include "policies/core/policy.h"
#include "policies/core/route.h"

/* The most specific of those that match: by host (exact, the longest "*.suffix",
 * any), then by path (the longest), then by model (exact, the longest "x*", any).
 * The policy's default where none does. An adapter of which no rule says anything
 * by its own name has the rule of its base. */
const struct rule *rule_for(const struct policy *policy, const struct request *request,
                            const struct model_names *model);
