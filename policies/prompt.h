/* prompt.h - what a request means in tokens and blocks. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/route.h"

/* model: as the policy calls it; empty when none is named. */
void prompt_of(const struct request *request, const struct policy *policy, struct span model,
               struct prompt *ret_prompt);

/* What it is, so that a prompt that comes again is known again; never 0. */
uint64_t prompt_key(const struct request *request, const struct prompt *prompt);
