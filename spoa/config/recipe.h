/* recipe.h - strategies: by name, or an operator's own row from JSON.
 *
 *     {"signals": {"running": 1, "prefix": {"weight": 5}}, "picker": "soft-k", "k": 3}
 *
 * is the same struct strategy as the rows in policies/strategies.c. */
#pragma once

#include "policies/core/option.h"
#include "policies/core/policy.h"
#include "policies/core/strategy.h"
#include "policies/pickers/picker.h"
#include "policies/signals/signal.h"
#include "spoa/config/loading.h"
#include "spoa/config/near.h"

extern const struct option recipe_options[];   /* of a recipe beside signals and picker */
extern const struct option weighing_options[]; /* of one signal in a recipe */

/* The recipe that a "strategy" is or names (made once, then the same again), without what is
 * blended in. NULL when it is none, or no good; the check or this has told why. */
const struct strategy *recipe_made(struct loading *loading, const struct node *node);
/* All of "strategies", used or not: a request header may name them. */
void recipes_load(struct loading *loading, struct policy *policy);
/* The recipe whose picker options stand in it; NULL for a plain name. */
const struct node *recipe_object(const struct loading *loading, const struct node *node);

/* Complains about options in the object that belong to other pickers than the
 * strategy's, and about values that this one does not take. */
void recipe_check_picker_options(const struct loading *loading, const struct strategy *strategy,
                                 const struct node *object);

/* NULL after the last. */
const struct picker *recipe_picker_at(size_t i);
const struct signal *recipe_signal_at(size_t i);
/* Offers the names of all strategies: the file's own, then the built-in ones. */
void recipe_offer(const struct loading *loading, struct near *near);
/* Whether a strategy has this name, in the file or built in. */
bool recipe_known(const struct loading *loading, const char *name);
