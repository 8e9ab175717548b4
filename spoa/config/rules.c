/* rules.c - what a policy file says of models: rules and aliases.
 *
 * A model may have a rule in "models" or in "rules"; the same host, path and model
 * in both, or twice in one, would leave it to chance which counts, so that is an
 * error. Hosts are kept in small letters and paths without a slash at their end,
 * so that what is compared at a request is what is compared here.
 * Instances need not be listed under "instances" (HAProxy says which there are),
 * so a name that is not there is suspicious only beside others that are. */
#include "spoa/config/rules.h"

#include <stdio.h>
#include <string.h>

#include "spoa/config/affinity.h"
#include "spoa/config/chain.h"
#include "spoa/config/classes.h"
#include "spoa/config/names.h"
#include "spoa/config/near.h"

static const char *text_of(const struct node *rule, const char *name)
{
	const struct node *node = node_named(rule, name);
	const char *text = node ? json_string_value(node->value) : NULL;

	return text ? text : "";
}

static void load_model(const struct node *rule, struct rule *ret_rule)
{
	const char *name = rule->name ? rule->name : text_of(rule, "model");

	name_copy(ret_rule->model, strcmp(name, "*") != 0 ? name : "");
}

static void load_host(const struct loading *loading, const struct node *rule, struct rule *ret_rule)
{
	const char *text = text_of(rule, "host");
	const char *star;

	name_copy(ret_rule->host, strcmp(text, "*") != 0 ? text : "");
	for (char *at = ret_rule->host; *at; at++) {
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at + ('a' - 'A'));
	}
	star = strrchr(ret_rule->host, '*');
	if (star && (star != ret_rule->host || star[1] != '.' || star[2] == '\0'))
		loading_error(loading, node_named(rule, "host"), "range",
		              "\"%s\" is neither a host nor *.host", text);
}

static void load_path(const struct loading *loading, const struct node *rule, struct rule *ret_rule)
{
	const char *text = text_of(rule, "path");
	size_t len;

	name_copy(ret_rule->path, text);
	len = strlen(ret_rule->path);
	while (len > 0 && ret_rule->path[len - 1] == '/')
		ret_rule->path[--len] = '\0';
	if (*text && *text != '/')
		loading_error(loading, node_named(rule, "path"), "range",
		              "\"%s\" does not begin with /", text);
}

/* "host /path model", as far as the rule is for one. */
static void show_patterns(const struct rule *rule, char ret_text[3 * NAME_MAX_BYTES])
{
	const char *model = rule->model;

	if (*model == '\0' && *rule->host == '\0' && *rule->path == '\0')
		model = "*";
	(void)snprintf(ret_text, 3 * (size_t)NAME_MAX_BYTES, "%s%s%s%s%s", rule->host,
	               *rule->host && *rule->path ? " " : "", rule->path,
	               (*rule->host || *rule->path) && *model ? " " : "", model);
}

static const struct node *place_of(const struct node *rule)
{
	static const char *const names[] = { "model", "path", "host" };
	const struct node *place = NULL;

	for (size_t i = 0; !rule->name && !place && i < sizeof(names) / sizeof(names[0]); i++)
		place = node_named(rule, names[i]);
	return place ? place : rule;
}

/* Remembers where the patterns were; complains if they were there before. */
static void tell_equal(const struct loading *loading, json_t *seen, const struct rule *rule,
                       const struct node *node)
{
	const struct node *place = place_of(node);
	char key[3 * NAME_MAX_BYTES], text[3 * NAME_MAX_BYTES];
	json_t *before;

	(void)snprintf(key, sizeof(key), "%s\n%s\n%s", rule->host, rule->path, rule->model);
	before = json_object_get(seen, key);
	if (before) {
		show_patterns(rule, text);
		loading_key_error(loading, place, "equal-rules",
		                  "there is a rule for \"%s\" already, at line %d", text,
		                  (int)json_integer_value(before));
		return;
	}
	(void)json_object_set_new(seen, key, json_integer(place->key_line));
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

static void load_rule(struct loading *loading, const struct policy *policy, const struct node *node,
                      struct layers *layers, struct rule *rule)
{
	const struct node *instances = node_named(node, "instances");
	const struct node *fallbacks = node_named(node, "fallback-services");

	rule->instances = names_load(loading, instances, &rule->instance_count);
	rule->fallbacks = names_load(loading, fallbacks, &rule->fallback_count);
	check_instances(loading, instances, false);
	check_instances(loading, fallbacks, true);
	affinity_load(loading, node_named(node, "affinity"), &rule->affinities,
	              &rule->affinity_count);
	name_copy(rule->upstream_model, text_of(node, "upstream-model"));
	rule->class_of = class_load(loading, policy, node_named(node, "class"));
	layers->nodes[2] = node;
	layers->count = 3;
	rule->chain_count = chain_load(loading, layers, rule->chain);
}

/* Says the model more than that it is there, what else it is called, what adapters it has and
 * how much may be used of it? */
static bool is_rule(const struct node *model)
{
	static const char *const others[] = { "aliases", "adapters", "limits", "profile" };

	for (const struct node *node = model->child; node; node = node->next) {
		size_t i = 0;

		while (i < sizeof(others) / sizeof(others[0]) && node->name &&
		       strcmp(node->name, others[i]) != 0)
			i++;
		if (node->name && i == sizeof(others) / sizeof(others[0]))
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

		if (!node->is_object || (node->name && !is_rule(node)))
			continue;
		load_host(loading, node, rule);
		load_path(loading, node, rule);
		load_model(node, rule);
		tell_equal(loading, seen, rule, node);
		load_rule(loading, policy, node, layers, rule);
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

	affinity_load(loading, node_named(loading->root, "affinity"), &policy->affinities,
	              &policy->affinity_count);
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
