/* rules.c - what a policy file says of models: rules and aliases.
 *
 * A model may have a rule in "models" or in "rules"; the same name in both, or
 * twice in one, would leave it to chance which counts, so that is an error.
 * Instances need not be listed under "instances" (HAProxy says which there are),
 * so a name that is not there is suspicious only beside others that are. */
#include "spoa/config/rules.h"

#include <string.h>

#include "spoa/config/chain.h"
#include "spoa/config/names.h"
#include "spoa/config/near.h"

/* The model a rule is for, as struct rule has it. */
static const char *pattern_of(const struct node *rule)
{
	const struct node *model = node_named(rule, "model");
	const char *name = model ? json_string_value(model->value) : NULL;

	if (rule->name)
		name = rule->name;
	return name && strcmp(name, "*") != 0 ? name : "";
}

static const struct node *place_of(const struct node *rule)
{
	const struct node *model = node_named(rule, "model");

	return model && !rule->name ? model : rule;
}

/* Remembers where the pattern was; complains if it was there before. */
static void tell_equal(const struct loading *loading, json_t *seen, const char *pattern,
                       const struct node *rule)
{
	const struct node *place = place_of(rule);
	json_t *before = json_object_get(seen, pattern);

	if (before) {
		loading_key_error(loading, place, "equal-rules",
		                  "there is a rule for \"%s\" already, at line %d",
		                  *pattern ? pattern : "*", (int)json_integer_value(before));
		return;
	}
	(void)json_object_set_new(seen, pattern, json_integer(place->key_line));
}

static void check_instance(const struct loading *loading, const struct node *known,
                           const struct node *node, bool fallback)
{
	const char *name = json_string_value(node->value);
	struct near near = near_to(name ? name : "");
	char hint[NEAR_HINT_MAX];

	if (!name || json_object_get(known->value, name))
		return;
	for (const struct node *other = known->child; other; other = other->next)
		near_offer(&near, other->name);
	near_hint(&near, hint);
	if (*hint || !fallback)
		loading_warning(loading, node, "unknown-backend", "\"%s\" is not under instances%s",
		                name, hint);
}

static void check_instances(const struct loading *loading, const struct node *list, bool fallback)
{
	const struct node *known = node_named(loading->root, "instances");

	if (!list || !known || !known->is_object || !known->child)
		return;
	for (const struct node *node = list->child; node; node = node->next)
		check_instance(loading, known, node, fallback);
}

static void load_rule(struct loading *loading, const struct node *node, struct layers *layers,
                      struct rule *rule)
{
	const struct node *instances = node_named(node, "instances");
	const struct node *fallbacks = node_named(node, "fallback-services");

	rule->instances = names_load(loading, instances, &rule->instance_count);
	rule->fallbacks = names_load(loading, fallbacks, &rule->fallback_count);
	check_instances(loading, instances, false);
	check_instances(loading, fallbacks, true);
	layers->nodes[2] = node;
	layers->count = 3;
	rule->chain_count = chain_load(loading, layers, rule->chain);
}

/* Says the model more than that it is there and what else it is called? */
static bool is_rule(const struct node *model)
{
	for (const struct node *node = model->child; node; node = node->next) {
		if (node->name && strcmp(node->name, "aliases") != 0)
			return true;
	}
	return false;
}

/* seen: alias → the model it is of. */
static void load_alias(const struct loading *loading, const struct node *model,
                       const struct node *node, json_t *seen, struct policy *policy)
{
	const char *name = json_string_value(node->value);
	struct alias *alias = &policy->aliases[policy->alias_count];

	if (!name || !model->name)
		return;
	if (json_object_get(model->parent->value, name))
		loading_error(loading, node, "duplicate", "\"%s\" is the name of a model itself",
		              name);
	else if (json_object_get(seen, name))
		loading_error(loading, node, "duplicate", "\"%s\" is an alias already, of %s", name,
		              json_string_value(json_object_get(seen, name)));
	(void)json_object_set_new(seen, name, json_string(model->name));
	name_copy(alias->name, name);
	name_copy(alias->model, model->name);
	policy->alias_count++;
}

static void load_aliases(struct loading *loading, const struct node *models, struct policy *policy)
{
	json_t *seen = json_object();
	size_t count = 0;

	for (const struct node *model = models->child; model; model = model->next) {
		const struct node *list = node_named(model, "aliases");

		count += list ? node_count(list) : 0;
	}
	policy->aliases = loading_take(loading, count, sizeof(policy->aliases[0]));
	for (const struct node *model = models->child; policy->aliases && model;
	     model = model->next) {
		const struct node *list = node_named(model, "aliases");

		for (const struct node *node = list ? list->child : NULL; node; node = node->next)
			load_alias(loading, model, node, seen, policy);
	}
	json_decref(seen);
}

static void load_list(struct loading *loading, const struct node *list, struct layers *layers,
                      json_t *seen, struct policy *policy)
{
	for (const struct node *node = list ? list->child : NULL; node; node = node->next) {
		struct rule *rule = &policy->rules[policy->rule_count];
		const char *pattern = pattern_of(node);

		if (!node->is_object || (node->name && !is_rule(node)))
			continue;
		tell_equal(loading, seen, pattern, node);
		name_copy(rule->model, pattern);
		load_rule(loading, node, layers, rule);
		policy->rule_count++;
	}
}

void rules_load(struct loading *loading, struct policy *policy)
{
	const struct node *defaults = node_named(loading->root, "defaults");
	const struct node *models = node_named(loading->root, "models");
	const struct node *rules = node_named(loading->root, "rules");
	size_t count = (models ? node_count(models) : 0) + (rules ? node_count(rules) : 0);
	struct rule *standard = &policy->default_rule;
	struct layers layers = { .nodes = { defaults, node_named(defaults, "level1") },
		                 .count = 2,
		                 .level = 1 };
	json_t *seen = json_object();

	standard->chain_count = chain_load(loading, &layers, standard->chain);
	policy->rules = loading_take(loading, count, sizeof(policy->rules[0]));
	if (policy->rules && models)
		load_list(loading, models, &layers, seen, policy);
	if (policy->rules && rules)
		load_list(loading, rules, &layers, seen, policy);
	if (models)
		load_aliases(loading, models, policy);
	json_decref(seen);
}
