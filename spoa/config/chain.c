/* chain.c - from layers of JSON objects to a chain of entries. */
#include "spoa/config/chain.h"

#include <string.h>

#include "policies/defaults.h"
#include "policies/phases.h"
#include "policies/pickers/picker.h"
#include "policies/signals/signals.h"
#include "policies/strategies.h"
#include "spoa/config/recipe.h"
#include "spoa/config/strategy.h"
#include "spoa/config/tables.h"

/* The layers of one entry. */
struct stack {
	const struct node *nodes[LAYERS_MAX + 1];
	size_t count;
};

/* The nearest layer with a strategy; count if there is none. */
static size_t strategy_layer(const struct stack *stack)
{
	for (size_t i = stack->count; i > 0; i--) {
		if (node_named(stack->nodes[i - 1], "strategy"))
			return i - 1;
	}
	return stack->count;
}

/* NULL when a strategy is named that there is not. */
static const struct strategy *strategy_of(struct loading *loading, const struct stack *stack)
{
	size_t layer = strategy_layer(stack);

	if (layer == stack->count)
		return strategy_named((struct span){ "default", 7 });
	return strategy_load(loading, node_named(stack->nodes[layer], "strategy"));
}

static void check_hard(const struct loading *loading, const struct entry_policy *entry,
                       const struct node *hard)
{
	for (const struct option *row = limits_options; hard && row->name; row++) {
		double most = *(const double *)((const char *)&entry->hard + row->offset);
		double admitted = *(const double *)((const char *)&entry->admit + row->offset);
		const struct node *node = node_named(hard, row->name);

		if (node && most > 0 && most < admitted)
			loading_error(loading, node, "range", "%g is below the %g of admit", most,
			              admitted);
	}
}

static void load_picker_options(struct loading *loading, const struct stack *stack,
                                struct entry_policy *entry)
{
	const struct option *options = entry->strategy->picker->options;
	size_t layer = strategy_layer(stack);
	const struct node *recipe = NULL;

	if (layer < stack->count)
		recipe = recipe_object(loading, node_named(stack->nodes[layer], "strategy"));
	if (recipe)
		table_load(options, entry->picker_settings, recipe);
	for (size_t i = layer < stack->count ? layer : 0; i < stack->count; i++)
		table_load(options, entry->picker_settings, stack->nodes[i]);
}

/* The strategy with another first signal, where its own option says so. */
static const struct strategy *variant_of(struct loading *loading, const struct stack *stack,
                                         const struct strategy *strategy)
{
	size_t layer = strategy_layer(stack);
	struct strategy *variant;
	struct span name;
	int choice = 0;

	if (!strategy->options)
		return strategy;
	for (size_t i = layer; i < stack->count; i++)
		table_load(strategy->options, &choice, stack->nodes[i]);
	variant = choice > 0 ? loading_take(loading, 1, sizeof(*variant)) : NULL;
	if (!variant)
		return strategy;
	name = choice_at(strategy->options->choices, choice);
	*variant = *strategy;
	variant->row = strategy->row ? strategy->row : strategy;
	variant->weighings[0].signal = signal_named(name);
	return variant;
}

/* Whatever names no phase of the role is a strategy; what names neither was told of. */
static void load_phase(struct loading *loading, const struct node *object, enum role role,
                       struct phase_policy *phase)
{
	const struct node *node = node_named(node_named(object, role_names[role]), "strategy");
	const char *name = node ? json_string_value(node->value) : NULL;
	struct phase_policy named = { NULL, NULL };

	if (name)
		named.phase = phase_named(role, (struct span){ name, strlen(name) });
	/* Within a phase a plain name or recipe is only itself: nothing is blended in. */
	if (node && !named.phase && recipe_object(loading, node))
		named.strategy = recipe_made(loading, recipe_object(loading, node));
	else if (name && !named.phase)
		named.strategy = strategy_named((struct span){ name, strlen(name) });
	if (node && !named.phase && !named.strategy)
		named.strategy = strategy_load(loading, node);
	if (named.phase || named.strategy)
		*phase = named;
}

static void load_entry(struct loading *loading, const struct stack *stack, int level,
                       struct entry_policy *entry)
{
	const struct strategy *strategy = strategy_of(loading, stack);

	if (!strategy)
		strategy = strategy_named((struct span){ "default", 7 });
	strategy = variant_of(loading, stack, strategy);
	if (level == 1)
		entry_default(entry, strategy);
	else
		entry_default_replicas(entry, strategy);
	load_picker_options(loading, stack, entry);
	for (size_t i = 0; i < stack->count; i++) {
		const struct node *object = stack->nodes[i];

		table_load(entry_options, entry, object);
		load_phase(loading, object, ROLE_PREFILL, &entry->pair.prefill);
		load_phase(loading, object, ROLE_DECODE, &entry->pair.decode);
		table_load(limits_options, &entry->admit, node_named(object, "admit"));
		table_load(limits_options, &entry->hard, node_named(object, "hard-limits"));
	}
}

/* The layer that says what the chain is; count if none does. */
static size_t chain_layer(const struct layers *layers)
{
	for (size_t i = layers->count; i > 0; i--) {
		if (node_named(layers->nodes[i - 1], "chain") ||
		    node_named(layers->nodes[i - 1], "strategy"))
			return i - 1;
	}
	return layers->count;
}

/* The layers with an entry of a chain in its place, behind the layer it is in. */
static struct stack stack_of(const struct layers *layers, size_t chain, const struct node *entry)
{
	struct stack stack = { .count = 0 };

	for (size_t i = 0; i < layers->count; i++) {
		if (layers->nodes[i])
			stack.nodes[stack.count++] = layers->nodes[i];
		if (entry && i == chain)
			stack.nodes[stack.count++] = entry;
	}
	return stack;
}

/* What the nearest object of the stack says, as far as it is there to see. */
static void check_nearest(struct loading *loading, const struct stack *stack,
                          const struct entry_policy *entry)
{
	const struct node *nearest = stack->nodes[stack->count - 1];

	const struct strategy *strategy = strategy_of(loading, stack);

	if (strategy)
		recipe_check_picker_options(loading, strategy, nearest);
	check_hard(loading, entry, node_named(nearest, "hard-limits"));
}

/* The objects of the last layer: itself, and the entries of its chain. */
static void check_own(struct loading *loading, const struct layers *layers)
{
	size_t own = layers->count - 1;
	struct stack stack = stack_of(layers, own, NULL);
	const struct node *chain = node_named(layers->nodes[own], "chain");
	struct entry_policy entry;

	if (!layers->nodes[own])
		return;
	load_entry(loading, &stack, layers->level, &entry);
	check_nearest(loading, &stack, &entry);
	for (const struct node *node = chain ? chain->child : NULL; node; node = node->next) {
		stack = stack_of(layers, own, node);
		if (!node->is_object)
			continue;
		load_entry(loading, &stack, layers->level, &entry);
		check_nearest(loading, &stack, &entry);
	}
}

uint32_t chain_load(struct loading *loading, const struct layers *layers,
                    struct entry_policy ret_chain[CHAIN_MAX])
{
	size_t layer = chain_layer(layers);
	const struct node *chain = NULL;
	struct stack stack;
	uint32_t count = 0;

	check_own(loading, layers);
	if (layer < layers->count)
		chain = node_named(layers->nodes[layer], "chain");
	for (const struct node *node = chain ? chain->child : NULL; node; node = node->next) {
		stack = stack_of(layers, layer, node);
		if (node->is_object && count < CHAIN_MAX)
			load_entry(loading, &stack, layers->level, &ret_chain[count++]);
	}
	if (count == 0) {
		stack = stack_of(layers, layer, NULL);
		load_entry(loading, &stack, layers->level, &ret_chain[count++]);
	}
	return count;
}
