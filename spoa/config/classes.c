/* classes.c - what a policy file says of classes and of HAProxy's queue.
 *
 * A class that is there without being said may be said anew; what is not said of it then
 * is as of any other class, and not as it was. */
#include "spoa/config/classes.h"

#include <string.h>

#include "policies/classes.h"
#include "policies/queue.h"
#include "spoa/config/names.h"
#include "spoa/config/near.h"
#include "spoa/config/tables.h"

static const struct node *own_classes(const struct loading *loading)
{
	return node_named(loading->root, "classes");
}

static void load_class(const struct loading *loading, const struct node *node,
                       struct class_policy *class)
{
	const struct node *priority = node_named(node, "priority");

	options_reset(class_options, class);
	options_reset(objective_options, &class->objectives);
	name_copy(class->name, node->name);
	/* As name_is() wants it. */
	for (char *c = class->name; *c; c++) {
		if (*c == '_')
			*c = '-';
		else if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	}
	table_load(class_options, class, node);
	table_load(objective_options, &class->objectives, node);
	if (priority && class->priority != (double)(int)class->priority)
		loading_error(loading, priority, "range", "%g is no whole number", class->priority);
}

void classes_load(const struct loading *loading, struct policy *policy)
{
	const struct node *queue = node_named(node_named(loading->root, "defaults"), "queue");
	const struct node *own = own_classes(loading);

	table_load(queue_options, &policy->queue, queue);
	table_load(objective_options, &policy->queue.objectives, queue);
	if (!own || !own->child)
		return;
	policy->classes = loading_take(loading, node_count(own), sizeof(policy->classes[0]));
	for (const struct node *node = own->child; policy->classes && node; node = node->next) {
		if (!node->name || !node->is_object)
			continue;
		if (node_named(own, node->name) != node)
			loading_key_error(loading, node, "duplicate", "is the same as \"%s\"",
			                  node_named(own, node->name)->name);
		load_class(loading, node, &policy->classes[policy->class_count++]);
	}
	policy->default_class = class_named(policy, (struct span){ "default", 7 });
}

const struct class_policy *class_load(const struct loading *loading, const struct policy *policy,
                                      const struct node *node)
{
	const char *name = node ? json_string_value(node->value) : NULL;
	const struct class_policy *class = NULL;
	struct near near = near_to(name ? name : "");
	char hint[NEAR_HINT_MAX];

	if (name)
		class = class_named(policy, (struct span){ name, strlen(name) });
	if (class || !name)
		return class;
	for (uint32_t i = 0; i < policy->class_count; i++)
		near_offer(&near, policy->classes[i].name);
	for (size_t i = 0; class_builtin(i); i++)
		near_offer(&near, class_builtin(i)->name);
	near_hint(&near, hint);
	loading_error(loading, node, "unknown-class", "there is no class \"%s\"%s", name, hint);
	return NULL;
}
