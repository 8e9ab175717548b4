/* sharing.h - what a policy file says of the store, beside its table of options. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

/* object: "redis"; may be NULL. Nothing is asked of the store. */
void sharing_load(const struct loading *loading, const struct node *object,
                  struct sharing_policy *sharing);
