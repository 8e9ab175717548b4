/* affinity.h - what a policy file says of affinity: who may serve whom. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

/* The rules of a list, in order; NULL and 0 when there are none. list may be NULL.
 * Complains about rules that say nothing, or of two kinds at once. */
void affinity_load(const struct loading *loading, const struct node *list,
                   struct affinity **ret_affinities, uint32_t *ret_count);
