/* rules.h - which rule a request falls under. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/span.h"

/* The exact name, else the longest "x*", else the rule for any model, else the
 * policy's default. */
const struct rule *rule_for(const struct policy *policy, struct span model);
