/* instances.c - what a policy file says of instances and their replicas. */
#include "spoa/config/instances.h"

#include <string.h>

#include "policies/defaults.h"
#include "spoa/config/chain.h"
#include "spoa/config/names.h"
#include "spoa/config/tables.h"

static void check_replica(const struct loading *loading, const struct node *node,
                          const struct replica_policy *replica)
{
	const char *star = strchr(replica->name, '*');

	if (star && strchr(star + 1, '*'))
		loading_error(loading, node, "name", "a pattern has one * at most");
	if (replica->max_prompt > 0 && replica->max_prompt < replica->min_prompt)
		loading_error(loading, node, "range", "max-prompt %g is below min-prompt %g",
		              replica->max_prompt, replica->min_prompt);
	if (replica->ranks > 0 && replica->role == ROLE_PREFILL)
		loading_warning(loading, node, "ranks",
		                "a decode engine is told where to prefill, not by which rank: the "
		                "engine chooses one itself");
	if (replica->roleset[0] != '\0' && replica->role == ROLE_COMBINED)
		loading_warning(loading, node, "roleset",
		                "a replica that does all of a request is in no pair");
}

static void load_replicas(const struct loading *loading, const struct node *replicas,
                          struct instance_policy *instance)
{
	size_t count = replicas ? node_count(replicas) : 0;

	if (count == 0)
		return;
	instance->replicas = loading_take(loading, count, sizeof(*instance->replicas));
	if (!instance->replicas)
		return;
	for (const struct node *node = replicas->child; node; node = node->next) {
		struct replica_policy *replica = &instance->replicas[instance->replica_count];

		if (!node->name)
			continue;
		options_reset(replica_options, replica);
		table_load(replica_options, replica, node);
		name_copy(replica->name, node->name);
		check_replica(loading, node, replica);
		instance->replica_count++;
	}
}

/* What another name at the engines can do, and what it cannot. */
static void tell_upstream(const struct loading *loading, const struct node *node,
                          const struct instance_policy *instance)
{
	const struct node *place = node_named(node, "upstream-model");

	if (!place || instance->upstream_model[0] == '\0')
		return;
	if (instance->model_count == 0)
		loading_warning(loading, place, "upstream-model",
		                "models is not given: its engines list %s, so it is never a "
		                "candidate for the name that clients use",
		                instance->upstream_model);
	if (instance->model_count > 1)
		loading_warning(loading, place, "upstream-model",
		                "all %u models of the instance become this one",
		                instance->model_count);
	loading_note(loading, place, "upstream-model",
	             "goes into the header x-infer-model; the body still names the model as the "
	             "client did, since HAProxy cannot change it: the engines must serve that name "
	             "as an alias, or read the header");
}

/* A body can only be changed by somebody who has it in his hands. */
static void check_rewrite(const struct loading *loading, const struct node *place)
{
	const char *how = place ? json_string_value(place->value) : NULL;

	if (!how || strcmp(how, "header") == 0)
		return;
	if (strcmp(how, "relay") == 0)
		loading_error(loading, place, "rewrite-model",
		              "changing the model in the body needs the relay, which this version "
		              "does not have: let the engines serve the clients' name as an alias, "
		              "or read the header x-infer-model");
	else
		loading_error(loading, place, "rewrite-model", "\"%s\" is neither header nor relay",
		              how);
}

/* A retry of HAProxy's goes to another server with the rank that was chosen at the first; but
 * not to one that only computes prompts. */
static void tell_ranks(const struct loading *loading, const struct node *node,
                       const struct instance_policy *instance)
{
	const struct replica_policy *first = NULL;

	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica_policy *replica = &instance->replicas[i];

		if (replica->role == ROLE_PREFILL)
			continue;
		if (first && replica->ranks != first->ranks) {
			loading_warning(
			        loading, node, "ranks",
			        "%s has %u ranks, %s %u: a request that HAProxy moves "
			        "from one to the other may ask for a rank that is not there",
			        first->name, first->ranks, replica->name, replica->ranks);
			return;
		}
		first = replica;
	}
}

/* Roles without a strategy that makes pairs, or such a strategy without roles. */
static void tell_pairs(const struct loading *loading, const struct node *node,
                       const struct instance_policy *instance)
{
	bool pairs = false, roles[ROLE_COUNT] = { false };

	for (uint32_t i = 0; i < instance->chain_count; i++)
		pairs |= instance->chain[i].strategy->pair;
	for (uint32_t i = 0; i < instance->replica_count; i++)
		roles[instance->replicas[i].role] = true;
	if (pairs && (!roles[ROLE_PREFILL] || !roles[ROLE_DECODE]))
		loading_warning(loading, node, "roles",
		                "pd finds no %s replica here: each serves alone, by least work",
		                roles[ROLE_PREFILL] ? "decode" : "prefill");
	if (!pairs && roles[ROLE_PREFILL])
		loading_warning(loading, node, "roles",
		                "without strategy pd its prefill replicas get no request");
}

static void load_instance(struct loading *loading, const struct node *node, struct layers *layers,
                          struct instance_policy *instance)
{
	name_copy(instance->name, node->name);
	table_load(instance_options, instance, node);
	instance->models = names_load(loading, node_named(node, "models"), &instance->model_count);
	tell_upstream(loading, node, instance);
	check_rewrite(loading, node_named(node, "rewrite-model"));
	layers->nodes[2] = node;
	layers->count = 3;
	instance->chain_count = chain_load(loading, layers, instance->chain);
	load_replicas(loading, node_named(node, "replicas"), instance);
	tell_pairs(loading, node, instance);
	tell_ranks(loading, node, instance);
}

void instances_load(struct loading *loading, struct policy *policy)
{
	const struct node *defaults = node_named(loading->root, "defaults");
	const struct node *instances = node_named(loading->root, "instances");
	struct instance_policy *standard = &policy->default_instance;
	struct layers layers = { .nodes = { defaults, node_named(defaults, "level2") },
		                 .count = 2,
		                 .level = 2 };

	table_load(instance_options, standard, layers.nodes[1]);
	standard->chain_count = chain_load(loading, &layers, standard->chain);
	if (!instances || !instances->child)
		return;
	policy->instances =
	        loading_take(loading, node_count(instances), sizeof(policy->instances[0]));
	for (const struct node *node = instances->child; policy->instances && node;
	     node = node->next) {
		struct instance_policy *instance = &policy->instances[policy->instance_count];

		if (!node->name || !node->is_object)
			continue;
		*instance = *standard;
		load_instance(loading, node, &layers, instance);
		policy->instance_count++;
	}
}
