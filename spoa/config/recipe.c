/* recipe.c - strategies: by name, or an operator's own row from JSON. */
#include "spoa/config/recipe.h"

#include <string.h>

#include "policies/core/name.h"
#include "policies/core/target.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "policies/strategies.h"
#include "spoa/config/tables.h"

/* What the table fills; texts are copied by hand. */
struct settings {
	int prefix;
	bool gate, sigma, serving, blend;
	char falls_to[NAME_MAX_BYTES];
	char help[NAME_MAX_BYTES];
};

/* One that was made. Lives in the arena of the policy. */
struct recipe {
	const struct node *node;
	struct strategy strategy;
	bool good;
	struct recipe *next;
};

#define OF(field) offsetof(struct settings, field)

const struct option recipe_options[] = {
	{ "prefix-mode", OPTION_CHOICE, OF(prefix), 0, 2, PREFIX_OFF, "",
	  "What a held prefix means: nothing, a score, or that its holders are the only "
	  "candidates.",
	  "off|score|sole", false },
	{ "gate", OPTION_BOOL, OF(gate), 0, 1, 0, "",
	  "Send requests to the least loaded targets while load is far out of balance.", NULL,
	  false },
	{ "sigma-filter", OPTION_BOOL, OF(sigma), 0, 1, 0, "",
	  "Leave out targets that run far more than the mean.", NULL, false },
	{ "serving", OPTION_BOOL, OF(serving), 0, 1, 0, "",
	  "Prefer instances that run fewer than prefer-serving-below.", NULL, false },
	{ "blend", OPTION_BOOL, OF(blend), 0, 1, 0, "",
	  "Add load-balance and least-request to it, as the policy's blend says.", NULL, false },
	{ "falls-to", OPTION_TEXT, OF(falls_to), 0, NAME_MAX_BYTES - 1, 0, "",
	  "Built-in strategy to use while the first signal is unknown for all.", NULL, false },
	{ "help", OPTION_TEXT, OF(help), 0, NAME_MAX_BYTES - 1, 0, "",
	  "What the recipe is for, for people.", NULL, false },
	{ 0 },
};

#undef OF

const struct option weighing_options[] = {
	{ "weight", OPTION_NUMBER, offsetof(struct weighing, weight), 0, 1000, 1, "",
	  "How much the signal counts beside the others; 0 leaves it out.", NULL, false },
	{ "min-spread", OPTION_NUMBER, offsetof(struct weighing, min_spread), -1, 1e6, -1, "",
	  "A smaller difference, in the signal's unit, is not a whole one; -1 for its own.", NULL,
	  false },
	{ "scale", OPTION_CHOICE, offsetof(struct weighing, scale), 0, 2, WEIGHING_OWN, "",
	  "How the signal becomes a grade: between the best and the worst of those standing, or as "
	  "it stands; own for the signal's own way.",
	  "own|minmax|natural", false },
	{ "full", OPTION_NUMBER, offsetof(struct weighing, full), 0, 1e9, 0, "",
	  "With a natural scale, the value that counts as a whole one; 0 for the signal's own.",
	  NULL, false },
	{ 0 },
};

#define AS_SIGNAL(name) &signal_##name,
static const struct signal *const all_signals[] = { SIGNALS(AS_SIGNAL) };
#undef AS_SIGNAL
#define AS_PICKER(name) &picker_##name,
static const struct picker *const all_pickers[] = { PICKERS(AS_PICKER) };
#undef AS_PICKER

const struct picker *recipe_picker_at(size_t i)
{
	return i < sizeof(all_pickers) / sizeof(all_pickers[0]) ? all_pickers[i] : NULL;
}

const struct signal *recipe_signal_at(size_t i)
{
	return i < sizeof(all_signals) / sizeof(all_signals[0]) ? all_signals[i] : NULL;
}

static struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

/* The file's own recipe of that name. */
static const struct node *own_recipe(const struct loading *loading, const char *name)
{
	const struct node *own = node_named(node_named(loading->root, "strategies"), name);

	return own && own->is_object ? own : NULL;
}

void recipe_offer(const struct loading *loading, struct near *near)
{
	const struct node *own = node_named(loading->root, "strategies");

	for (const struct node *node = own ? own->child : NULL; node; node = node->next) {
		if (node->name)
			near_offer(near, node->name);
	}
	for (size_t i = 0; strategy_at(i); i++)
		near_offer(near, strategy_at(i)->name);
}

bool recipe_known(const struct loading *loading, const char *name)
{
	return own_recipe(loading, name) || strategy_named(span_of(name));
}

const struct node *recipe_object(const struct loading *loading, const struct node *node)
{
	if (node->is_object)
		return node;
	return json_is_string(node->value) ? own_recipe(loading, json_string_value(node->value))
	                                   : NULL;
}

static void load_signals(const struct node *signals, struct strategy *strategy)
{
	size_t count = 0;

	for (const struct node *node = signals ? signals->child : NULL; node; node = node->next) {
		struct weighing *weighing = &strategy->weighings[count];

		if (count == RECIPE_SIGNALS_MAX || !node->name)
			break;
		options_reset(weighing_options, weighing);
		weighing->signal = signal_named(span_of(node->name));
		table_load(weighing_options, weighing, node);
		if (json_is_number(node->value))
			weighing->weight = json_number_value(node->value);
		if (weighing->signal && weighing->weight > 0)
			count++;
	}
	if (count < WEIGHINGS_MAX)
		strategy->weighings[count] = (struct weighing){ .signal = NULL };
}

static const struct picker *load_picker(const struct node *node)
{
	const char *name = node ? json_string_value(node->value) : NULL;
	const struct picker *picker = name ? picker_named(span_of(name)) : NULL;

	return picker ? picker : &picker_best;
}

/* Is it known what the signals are? If not, the check has told. */
static bool signals_known(const struct node *signals)
{
	const struct node *node = signals ? signals->child : NULL;

	while (node && node->name && signal_named(span_of(node->name)))
		node = node->next;
	return !node && (!signals || signals->is_object);
}

/* What neither a type nor a range tells. */
static bool makes_sense(const struct loading *loading, const struct node *node,
                        const struct strategy *strategy, const char *falls_to)
{
	bool scored = strategy->picker == &picker_best || strategy->picker == &picker_p2c;

	if (*falls_to && (!strategy->falls_to || strategy->falls_to->picker->settings_size > 0)) {
		loading_error(loading, node_named(node, "falls-to"), "unknown-strategy",
		              "\"%s\" is no built-in strategy whose picker has no options",
		              falls_to);
		return false;
	}
	if (!scored || strategy->weighings[0].signal)
		return true;
	if (signals_known(node_named(node, "signals")))
		loading_error(loading, node, "range",
		              "no signals; the picker %s needs one with a weight above 0",
		              strategy->picker->name);
	return false;
}

static bool some_picker_has(const struct node *node)
{
	for (size_t i = 0; recipe_picker_at(i); i++) {
		if (table_row(recipe_picker_at(i)->options, node))
			return true;
	}
	return false;
}

void recipe_check_picker_options(const struct loading *loading, const struct strategy *strategy,
                                 const struct node *object)
{
	for (const struct node *node = object->child; node; node = node->next) {
		const struct option *row = table_row(strategy->options, node);

		if (!row)
			row = table_row(strategy->picker->options, node);
		if (row)
			table_check(loading, row, node);
		else if (some_picker_has(node))
			loading_key_error(loading, node, "unknown-key",
			                  "the picker %s of strategy %s has no such option",
			                  strategy->picker->name, strategy->name);
	}
}

/* In our spelling, which is what name_is() compares with. */
static const char *canonical(const struct loading *loading, const char *name)
{
	char *copy = arena_text(loading->arena, name, strlen(name));

	for (char *c = copy; c && *c; c++) {
		if (*c == '_')
			*c = '-';
		else if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	}
	return copy;
}

static bool make(const struct loading *loading, const struct node *node, struct strategy *strategy)
{
	struct settings settings = { .gate = false };
	bool named = node->parent->parent && !node->parent->parent->parent &&
	             node->parent == node_named(loading->root, "strategies");

	options_reset(recipe_options, &settings);
	table_load(recipe_options, &settings, node);
	strategy->name = canonical(loading, named ? node->name : "custom");
	strategy->help = arena_text(loading->arena, settings.help, strlen(settings.help));
	load_signals(node_named(node, "signals"), strategy);
	strategy->picker = load_picker(node_named(node, "picker"));
	strategy->prefix = (enum prefix_mode)settings.prefix;
	strategy->gate = settings.gate;
	strategy->sigma = settings.sigma;
	strategy->serving = settings.serving;
	strategy->blending = settings.blend ? BLEND_LOAD : BLEND_NOTHING;
	for (size_t i = 0; i < WEIGHINGS_MAX && strategy->weighings[i].signal; i++)
		strategy->counts_requests |= strategy->weighings[i].signal == &signal_running;
	strategy->has_settings = strategy->picker->settings_size > 0;
	options_reset(strategy->picker->options, strategy->picker_settings);
	table_load(strategy->picker->options, strategy->picker_settings, node);
	if (settings.falls_to[0])
		strategy->falls_to = strategy_named(span_of(settings.falls_to));
	recipe_check_picker_options(loading, strategy, node);
	return strategy->name && strategy->help &&
	       makes_sense(loading, node, strategy, settings.falls_to);
}

static const struct strategy *made(struct loading *loading, const struct node *node)
{
	struct recipe *recipe = loading->recipes;

	while (recipe && recipe->node != node)
		recipe = recipe->next;
	if (!recipe) {
		recipe = loading_take(loading, 1, sizeof(*recipe));
		if (!recipe)
			return NULL;
		recipe->node = node;
		recipe->good = make(loading, node, &recipe->strategy);
		recipe->next = loading->recipes;
		loading->recipes = recipe;
	}
	return recipe->good ? &recipe->strategy : NULL;
}

const struct strategy *recipe_made(struct loading *loading, const struct node *node)
{
	const struct node *object = recipe_object(loading, node);

	return object ? made(loading, object) : NULL;
}

void recipes_load(struct loading *loading, struct policy *policy)
{
	const struct node *own = node_named(loading->root, "strategies");

	if (!own || !own->child)
		return;
	policy->strategies =
	        loading_take(loading, node_count(own), sizeof(const struct strategy *));
	for (const struct node *node = own->child; policy->strategies && node; node = node->next) {
		const struct strategy *strategy = NULL;

		if (!node->name || !node->is_object)
			continue;
		if (strategy_named(span_of(node->name)))
			loading_key_error(loading, node, "duplicate",
			                  "is the name of a built-in strategy");
		else if (node_named(own, node->name) != node)
			loading_key_error(loading, node, "duplicate", "is the same as \"%s\"",
			                  node_named(own, node->name)->name);
		strategy = made(loading, node);
		if (strategy)
			policy->strategies[policy->strategy_count++] = strategy;
	}
}
