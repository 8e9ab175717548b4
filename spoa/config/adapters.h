/* adapters.h - what a policy file says of LoRA adapters: models.NAME.adapters, defaults.lora. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

void adapters_load(const struct loading *loading, struct policy *policy);
