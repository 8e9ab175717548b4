/* profile.c - one step for prompts of any length, and those of "by-length". */
#include "spoa/config/profile.h"

#include <string.h>

#include "policies/core/option.h"
#include "spoa/config/names.h"
#include "spoa/config/strategy.h"
#include "spoa/config/tables.h"

const struct option profile_step_options[] = {
	{ "from", OPTION_NUMBER, offsetof(struct profile_step, from), 0, 1e9, 0, "tokens",
	  "Prompts of so many tokens and more get the strategy.", NULL, false },
	{ 0 },
};

static void add_step(struct loading *loading, const struct node *node, double from,
                     struct profile *profile)
{
	const struct node *strategy = node_named(node, "strategy");

	profile->steps[profile->step_count++] = (struct profile_step){
		.from = from, .strategy = strategy ? strategy_load(loading, strategy) : NULL
	};
}

static void load_steps(struct loading *loading, const struct node *list, struct profile *profile)
{
	double before = 0;

	for (const struct node *node = list ? list->child : NULL; node; node = node->next) {
		struct profile_step step = { .from = 0 };

		table_load(profile_step_options, &step, node);
		if (step.from <= before)
			loading_error(loading, node, "range",
			              "from %g tokens is not above the %g before it", step.from,
			              before);
		before = step.from;
		add_step(loading, node, step.from, profile);
	}
}

static void load_profile(struct loading *loading, const struct node *model, const struct node *node,
                         struct profile *profile)
{
	const struct node *list = node_named(node, "by-length");
	size_t steps = 1 + (list ? node_count(list) : 0);

	name_copy(profile->model, strcmp(model->name, "*") != 0 ? model->name : "");
	profile->steps = loading_take(loading, steps, sizeof(profile->steps[0]));
	if (!profile->steps)
		return;
	add_step(loading, node, 0, profile);
	load_steps(loading, list, profile);
}

void profiles_load(struct loading *loading, struct policy *policy)
{
	const struct node *models = node_named(loading->root, "models");

	if (!models || !models->child)
		return;
	policy->profiles = loading_take(loading, node_count(models), sizeof(policy->profiles[0]));
	for (const struct node *model = models->child; policy->profiles && model;
	     model = model->next) {
		const struct node *node = node_named(model, "profile");

		if (model->name && node && node->is_object)
			load_profile(loading, model, node,
			             &policy->profiles[policy->profile_count++]);
	}
}
