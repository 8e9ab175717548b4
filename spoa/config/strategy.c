/* strategy.c - strategies by name or string, each with what is blended in. */
#include "spoa/config/strategy.h"

#include <string.h>

#include "policies/blend.h"
#include "spoa/config/recipe.h"

/* What a node came to. Lives in the arena of the policy. */
struct named {
	const struct node *node;
	const struct strategy *strategy; /* NULL: no good */
	struct blend room;
	struct named *next;
};

bool strategy_is_string(const char *text)
{
	return strpbrk(text, ",:") != NULL;
}

static const struct strategy *make(struct loading *loading, const struct node *node,
                                   struct blend *room)
{
	const char *text = json_string_value(node->value);
	const struct strategy *recipe = NULL;
	struct blend_problem problem = { BLEND_NONE, { NULL, 0 } };
	const struct strategy *strategy;

	if (recipe_object(loading, node)) {
		recipe = recipe_made(loading, node);
		return recipe ? blend_alone(loading->policy, recipe, room) : NULL;
	}
	if (!text)
		return NULL;
	strategy = blend_strategy(loading->policy, (struct span){ text, strlen(text) }, room,
	                          &problem);
	if (!strategy && strategy_is_string(text))
		loading_error(loading, node, "unknown-strategy", "\"%.*s\": %s",
		              (int)problem.part.len, problem.part.at ? problem.part.at : "",
		              blend_fault_text(problem.fault));
	return strategy;
}

const struct strategy *strategy_load(struct loading *loading, const struct node *node)
{
	struct named *named = loading->named;

	while (named && named->node != node)
		named = named->next;
	if (named)
		return named->strategy;
	named = loading_take(loading, 1, sizeof(*named));
	if (!named)
		return NULL;
	named->node = node;
	named->strategy = make(loading, node, &named->room);
	named->next = loading->named;
	loading->named = named;
	return named->strategy;
}
