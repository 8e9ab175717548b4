/* tenants.c - what a policy file says of callers, and how much may be used of a model.
 *
 * A burst without a rate limits nothing, and is therefore a mistake. So is a star that
 * is not at the end of a name: it would be compared as a letter. */
#include "spoa/config/tenants.h"

#include <string.h>

#include "policies/defaults.h"
#include "spoa/config/classes.h"
#include "spoa/config/names.h"
#include "spoa/config/tables.h"

static void check_burst(const struct loading *loading, const struct node *node,
                        const struct rate *rate)
{
	if (node && rate->per_second <= 0)
		loading_error(loading, node, "range", "there is no rate that it belongs to");
}

static void check_pattern(const struct loading *loading, const struct node *node)
{
	const char *star = strchr(node->name, '*');

	if (star && star[1] != '\0')
		loading_key_error(loading, node, "range",
		                  "a star stands at the end, or not at all");
}

/* node: NULL, when nothing is said. */
static void load_quota(const struct loading *loading, const struct node *node,
                       struct quota *ret_quota)
{
	options_reset(quota_options, ret_quota);
	if (!node)
		return;
	table_load(quota_options, ret_quota, node);
	check_burst(loading, node_named(node, "requests-burst"), &ret_quota->requests);
	check_burst(loading, node_named(node, "tokens-burst"), &ret_quota->tokens);
}

static void load_models(const struct loading *loading, const struct node *models,
                        struct tenant_policy *tenant)
{
	if (!models || !models->child)
		return;
	tenant->models = loading_take(loading, node_count(models), sizeof(tenant->models[0]));
	for (const struct node *node = models->child; tenant->models && node; node = node->next) {
		struct model_quota *model = &tenant->models[tenant->model_count];

		if (!node->name || !node->is_object)
			continue;
		check_pattern(loading, node);
		name_copy(model->model, node->name);
		load_quota(loading, node, &model->quota);
		tenant->model_count++;
	}
}

static void load_tenants(const struct loading *loading, const struct node *tenants,
                         struct policy *policy)
{
	policy->tenants = loading_take(loading, node_count(tenants), sizeof(policy->tenants[0]));
	for (const struct node *node = tenants->child; policy->tenants && node; node = node->next) {
		struct tenant_policy *tenant = &policy->tenants[policy->tenant_count];

		if (!node->name || !node->is_object)
			continue;
		check_pattern(loading, node);
		options_reset(tenant_options, tenant);
		table_load(tenant_options, tenant, node);
		name_copy(tenant->name, node->name);
		tenant->class_of = class_load(loading, policy, node_named(node, "class"));
		load_quota(loading, node_named(node, "limits"), &tenant->quota);
		load_models(loading, node_named(node, "models"), tenant);
		policy->tenant_count++;
	}
}

/* Of models, over all tenants: those that say so. */
static void load_quotas(const struct loading *loading, const struct node *models,
                        struct policy *policy)
{
	policy->quotas = loading_take(loading, node_count(models), sizeof(policy->quotas[0]));
	for (const struct node *node = models->child; policy->quotas && node; node = node->next) {
		const struct node *limits = node_named(node, "limits");
		struct model_quota *quota = &policy->quotas[policy->quota_count];

		if (!node->name || !limits || !limits->is_object)
			continue;
		name_copy(quota->model, node->name);
		load_quota(loading, limits, &quota->quota);
		policy->quota_count++;
	}
}

void tenants_load(const struct loading *loading, struct policy *policy)
{
	const struct node *tenants = node_named(loading->root, "tenants");
	const struct node *models = node_named(loading->root, "models");

	if (tenants && tenants->child)
		load_tenants(loading, tenants, policy);
	if (models && models->child)
		load_quotas(loading, models, policy);
}
