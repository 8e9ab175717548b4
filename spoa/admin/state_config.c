/* state_config.c - the policy in force, option by option.
 *
 * Names come from the same tables that the loader reads. Durations are seconds,
 * sizes bytes. */
#include <string.h>

#include "policies/defaults.h"
#include "spoa/admin/state.h"
#include "spoa/admin/text_json.h"

static json_t *choice_json(const struct option *option, int place)
{
	const char *at = option->choices;

	for (int i = 0; i < place && strchr(at, '|'); i++)
		at = strchr(at, '|') + 1;
	return text_json((struct span){ at, strcspn(at, "|") });
}

static json_t *option_json(const struct option *option, const void *settings)
{
	const char *at = (const char *)settings + option->offset;
	double number = 0;
	usec_t time = 0;
	uint32_t count = 0;
	int place = 0;
	bool flag = false;

	switch (option->type) {
	case OPTION_BOOL:
		memcpy(&flag, at, sizeof(flag));
		return json_boolean(flag);
	case OPTION_COUNT:
		memcpy(&count, at, sizeof(count));
		if (count == 0 && option->choices)
			return json_string(option->choices);
		return json_integer(count);
	case OPTION_NUMBER:
	case OPTION_SIZE:
		memcpy(&number, at, sizeof(number));
		return json_real(number);
	case OPTION_DURATION:
		memcpy(&time, at, sizeof(time));
		return json_real((double)time / 1e6);
	case OPTION_MSEC:
		memcpy(&number, at, sizeof(number));
		return json_real(number / 1000);
	case OPTION_RATE: /* per second, whatever the period */
		memcpy(&number, at + offsetof(struct rate, per_second), sizeof(number));
		return json_real(number);
	case OPTION_TEXT:
		return name_json(at);
	case OPTION_CHOICE:
		memcpy(&place, at, sizeof(place));
		return choice_json(option, place);
	}
	return json_null();
}

static json_t *options_json(const struct option *options, const void *settings)
{
	json_t *object = json_object();

	for (; options && options->name; options++)
		(void)json_object_set_new(object, options->name, option_json(options, settings));
	return object;
}

static json_t *chain_json(const struct entry_policy *chain, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++) {
		json_t *entry = options_json(entry_options, &chain[i]);

		(void)json_object_set_new(
		        entry, "strategy",
		        name_json(chain[i].strategy ? chain[i].strategy->name : ""));
		(void)json_object_set_new(entry, "admit",
		                          options_json(limits_options, &chain[i].admit));
		(void)json_object_set_new(entry, "hard",
		                          options_json(limits_options, &chain[i].hard));
		(void)json_array_append_new(list, entry);
	}
	return list;
}

static json_t *names_json(char (*names)[NAME_MAX_BYTES], uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++)
		(void)json_array_append_new(list, name_json(names[i]));
	return list;
}

static json_t *rule_json(const struct rule *rule)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "model", name_json(rule->model), "instances",
	                 names_json(rule->instances, rule->instance_count), "fallback-services",
	                 names_json(rule->fallbacks, rule->fallback_count), "chain",
	                 chain_json(rule->chain, rule->chain_count));
}

static json_t *instance_policy_json(const struct instance_policy *instance)
{
	json_t *object = options_json(instance_options, instance);

	(void)json_object_set_new(object, "models",
	                          names_json(instance->models, instance->model_count));
	(void)json_object_set_new(object, "chain",
	                          chain_json(instance->chain, instance->chain_count));
	return object;
}

static json_t *session_json(const struct session_policy *session)
{
	json_t *object = options_json(session_options, session);
	json_t *headers = json_array();

	for (uint32_t i = 0; i < session->header_count; i++)
		(void)json_array_append_new(headers, json_string(session->headers[i].name));
	(void)json_object_set_new(object, "headers", headers);
	return object;
}

/* Of models, by name. */
static json_t *quotas_json(const struct model_quota *quotas, uint32_t count)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < count; i++)
		(void)json_object_set_new(object, quotas[i].model,
		                          options_json(quota_options, &quotas[i].quota));
	return object;
}

static json_t *tenants_json(const struct policy *policy)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < policy->tenant_count; i++) {
		const struct tenant_policy *tenant = &policy->tenants[i];
		json_t *one = options_json(tenant_options, tenant);

		(void)json_object_set_new(one, "limits",
		                          options_json(quota_options, &tenant->quota));
		(void)json_object_set_new(one, "models",
		                          quotas_json(tenant->models, tenant->model_count));
		(void)json_object_set_new(object, tenant->name, one);
	}
	return object;
}

json_t *state_config(const struct sources *sources)
{
	const struct policy *policy = sources->facts->policy;
	json_t *rules = json_array();
	json_t *instances = json_object();
	json_t *aliases = json_object();

	for (uint32_t i = 0; i < policy->rule_count; i++)
		(void)json_array_append_new(rules, rule_json(&policy->rules[i]));
	for (uint32_t i = 0; i < policy->instance_count; i++)
		(void)json_object_set_new(instances, policy->instances[i].name,
		                          instance_policy_json(&policy->instances[i]));
	for (uint32_t i = 0; i < policy->alias_count; i++)
		(void)json_object_set_new(aliases, policy->aliases[i].name,
		                          name_json(policy->aliases[i].model));
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
	                 "path", name_json(sources->agent.policy_path), "ladder", policy->ladder.id,
	                 "options", options_json(policy_options, policy), "prefix",
	                 options_json(prefix_options, &policy->prefix), "health",
	                 options_json(health_options, &policy->health), "session",
	                 session_json(&policy->session), "redis",
	                 options_json(sharing_options, &policy->sharing), "default-rule",
	                 rule_json(&policy->default_rule), "default-instance",
	                 instance_policy_json(&policy->default_instance), "rules", rules,
	                 "instances", instances, "aliases", aliases, "tenants",
	                 tenants_json(policy), "model-limits",
	                 quotas_json(policy->quotas, policy->quota_count));
}
