/* prompt.h - what a request means in tokens and blocks. */
#pragma once

#include "policies/core/model_names.h"
#include "policies/core/policy.h"
#include "policies/core/route.h"

struct prefix_index;

/* model: its names, empty when none is named. What an adapter computes of a prompt is nothing to
 * its base, nor to another adapter. index: that will be asked for the prompt, or NULL. */
void prompt_of(const struct request *request, const struct policy *policy,
               const struct prefix_index *index, const struct model_names *model,
               struct prompt *ret_prompt);

/* What it is, so that a prompt that comes again is known again; never 0. */
uint64_t prompt_key(const struct request *request, const struct prompt *prompt);
