/* strategy.h - what stands at a key "strategy": a name, a string of several, or a recipe. */
#pragma once

#include "policies/core/strategy.h"
#include "spoa/config/loading.h"

/* With what the policy blends in; made once for a node, then the same again. NULL when it is
 * no good; the check or this has told why. */
const struct strategy *strategy_load(struct loading *loading, const struct node *node);
/* Whether the text has the form of several, which the check of names leaves to this. */
bool strategy_is_string(const char *text);
