/* adapters.c - which adapter is of which model.
 *
 * A name can mean one thing only: an adapter of two models, or one that is an alias as well,
 * would leave it to chance which engines are asked. */
#include "spoa/config/adapters.h"

#include <string.h>

#include "policies/lora.h"
#include "spoa/config/names.h"
#include "spoa/config/tables.h"

static bool is_alias(const struct policy *policy, const char *name)
{
	for (uint32_t i = 0; i < policy->alias_count; i++)
		if (strcmp(policy->aliases[i].name, name) == 0)
			return true;
	return false;
}

/* seen: adapter → the model it is of. */
static void load_adapter(const struct loading *loading, const struct node *model,
                         const struct node *node, json_t *seen, struct policy *policy)
{
	const char *name = json_string_value(node->value);
	struct adapter_policy *adapter = &policy->adapters[policy->adapter_count];

	if (!name || !model->name)
		return;
	if (strcmp(name, model->name) == 0)
		loading_error(loading, node, "adapter", "\"%s\" is no adapter of itself", name);
	else if (json_object_get(seen, name))
		loading_error(loading, node, "duplicate", "\"%s\" is an adapter already, of %s",
		              name, json_string_value(json_object_get(seen, name)));
	else if (is_alias(policy, name))
		loading_error(loading, node, "duplicate", "\"%s\" is an alias already", name);
	(void)json_object_set_new(seen, name, json_string(model->name));
	name_copy(adapter->name, name);
	name_copy(adapter->model, model->name);
	policy->adapter_count++;
}

static const struct node *list_of(const struct node *model)
{
	return node_named(model, "adapters");
}

void adapters_load(const struct loading *loading, struct policy *policy)
{
	const struct node *defaults = node_named(loading->root, "defaults");
	const struct node *models = node_named(loading->root, "models");
	json_t *seen = json_object();
	size_t count = 0;

	table_load(lora_options, &policy->lora, node_named(defaults, "lora"));
	for (const struct node *model = models ? models->child : NULL; model; model = model->next)
		count += list_of(model) ? node_count(list_of(model)) : 0;
	if (count > 0)
		policy->adapters = loading_take(loading, count, sizeof(policy->adapters[0]));
	for (const struct node *model = models ? models->child : NULL; policy->adapters && model;
	     model = model->next) {
		const struct node *list = list_of(model);

		if (list && model->name && strchr(model->name, '*'))
			loading_error(loading, list, "adapter",
			              "adapters are of one model, and \"%s\" is a pattern",
			              model->name);
		for (const struct node *node = list ? list->child : NULL; node; node = node->next)
			load_adapter(loading, model, node, seen, policy);
	}
	json_decref(seen);
}
