/* profile.h - the profile of a model: which strategy its requests get, by the length of their
 * prompts, whatever rule they match. */
#pragma once

#include "policies/core/option.h"
#include "policies/core/policy.h"
#include "spoa/config/loading.h"

extern const struct option profile_step_options[]; /* of struct profile_step */

/* Those of all models that have one. */
void profiles_load(struct loading *loading, struct policy *policy);
