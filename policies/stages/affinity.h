/* affinity.h - which instances the operator's rules leave to a request. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/route.h"

/* No rule of the policy or of walk->rule that applies to the request keeps the
 * instance away. strict: of the strict rules only. Of a split every part with a
 * share is allowed: which one the request has is the stage's business. */
bool affinity_allows(const struct walk *walk, const struct instance *instance, bool strict);

/* A strict rule applies to the request. */
bool affinity_is_strict(const struct walk *walk);

/* Where the share of a split lies for a key: the higher, the sooner that part is
 * taken; 0 for a share of 0. Weighted rendezvous: who has the highest draw changes
 * only for keys that must move when shares change or parts come and go. */
double affinity_draw(struct span key, const char *part, double share);
