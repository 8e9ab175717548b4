/* check_live.c - each name that a client may send, against each engine it may be sent to. */
#include "spoa/check_live.h"

#include <stdio.h>
#include <string.h>

struct checking {
	const struct policy *policy;
	const struct live *live;
	struct problems *problems;
	struct place place;
};

enum { LIST_MAX = 200, PATH_MAX_BYTES = 2 * NAME_MAX_BYTES + 16 };

static void check_haproxies(const struct checking *checking)
{
	for (uint32_t i = 0; i < checking->live->haproxy_count; i++) {
		const struct live_haproxy *haproxy = &checking->live->haproxy[i];

		if (haproxy->error[0])
			problems_add(checking->problems, checking->place, SEVERITY_ERROR,
			             haproxy->address, "live-haproxy", "does not answer: %s",
			             haproxy->error);
		else
			problems_add(checking->problems, checking->place, SEVERITY_NOTE,
			             haproxy->address, "live-version", "HAProxy %s",
			             haproxy->version[0] ? haproxy->version
			                                 : "does not say its version");
	}
}

/* A backend that nobody has is one that no request ever goes to. */
static void check_backends(const struct checking *checking)
{
	for (uint32_t i = 0; i < checking->policy->instance_count; i++) {
		const char *name = checking->policy->instances[i].name;
		char path[PATH_MAX_BYTES];

		if (fleet_instance_named(checking->live->fleet,
		                         (struct span){ name, strlen(name) }))
			continue;
		(void)snprintf(path, sizeof(path), "instances.%s", name);
		problems_add(checking->problems, checking->place, SEVERITY_ERROR, path,
		             "live-backend",
		             "no HAProxy that was asked has a backend of this name");
	}
}

static void list_names(const struct live_engine *engine, char text[LIST_MAX])
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < engine->count && used < LIST_MAX; i++)
		used += (size_t)snprintf(text + used, LIST_MAX - used, "%s%s", i > 0 ? ", " : "",
		                         engine->names[i]);
}

/* One name that a client may send; upstream: what the header says instead, or "". */
static void check_name(const struct checking *checking, const struct live_engine *engine,
                       const char *path, const char *name, const char *upstream)
{
	char names[LIST_MAX];

	if (name[0] == '\0' || live_serves(engine, name))
		return;
	list_names(engine, names);
	if (upstream[0] && live_serves(engine, upstream))
		problems_add(checking->problems, checking->place, SEVERITY_WARNING, path,
		             "live-model",
		             "serves %s, but the body says %s: serve that as an alias (vLLM: "
		             "--served-model-name), or read the header x-infer-model; to change "
		             "the body takes the relay, which this version does not have",
		             upstream, name);
	else
		problems_add(checking->problems, checking->place, SEVERITY_ERROR, path,
		             "live-model", "does not serve %s; it serves %s", name, names);
}

static void check_model(const struct checking *checking, const struct live_engine *engine,
                        const char *path, const char *model, const char *upstream)
{
	const struct policy *policy = checking->policy;

	check_name(checking, engine, path, model, upstream);
	for (uint32_t i = 0; i < policy->alias_count; i++)
		if (strcmp(policy->aliases[i].model, model) == 0)
			check_name(checking, engine, path, policy->aliases[i].name, upstream);
}

static bool rule_names(const struct rule *rule, const char *instance)
{
	for (uint32_t i = 0; i < rule->instance_count; i++)
		if (strcmp(rule->instances[i], instance) == 0)
			return true;
	return false;
}

/* "" and "m*" are no name of a model. */
static bool is_exact(const char *model)
{
	size_t len = strlen(model);

	return len > 0 && model[len - 1] != '*';
}

/* What may be sent to this instance: what the policy says it serves, and the models of rules
 * that name it. */
static void check_models(const struct checking *checking, const struct instance *instance,
                         const struct live_engine *engine, const char *path)
{
	const struct instance_policy *own = instance->policy;
	const struct policy *policy = checking->policy;
	const char *upstream = own ? own->upstream_model : "";

	for (uint32_t i = 0; own && i < own->model_count; i++)
		check_model(checking, engine, path, own->models[i], upstream);
	for (uint32_t i = 0; i < policy->rule_count; i++) {
		const struct rule *rule = &policy->rules[i];

		if (own && own->model_count > 0)
			return;
		if (is_exact(rule->model) && rule_names(rule, instance->name))
			check_model(checking, engine, path, rule->model,
			            upstream[0] ? upstream : rule->upstream_model);
	}
}

static void check_engine(const struct checking *checking, const struct instance *instance,
                         const struct replica *replica)
{
	const struct live_engine *engine = live_engine_at(checking->live, replica->target->id);
	char path[PATH_MAX_BYTES], names[LIST_MAX];

	(void)snprintf(path, sizeof(path), "%s %s", instance->name, replica->target->label);
	if (!engine)
		return;
	if (engine->status == 401 || engine->status == 403) {
		problems_add(checking->problems, checking->place, SEVERITY_WARNING, path,
		             "live-engine",
		             "wants a credential: put it into a file, and that into "
		             "engine-credential-file");
	} else if (engine->status != 200 || engine->count == 0) {
		problems_add(checking->problems, checking->place, SEVERITY_WARNING, path,
		             "live-engine", "cannot be asked for its models: %s",
		             engine->error[0]        ? engine->error
		             : engine->status == 200 ? "its list is empty"
		             : engine->status == 404 ? "it has no /v1/models"
		                                     : "it answers with another status");
	} else {
		list_names(engine, names);
		problems_add(checking->problems, checking->place, SEVERITY_NOTE, path,
		             "live-version", "serves %s%s%s", names,
		             engine->version[0] ? "; version " : "", engine->version);
		check_models(checking, instance, engine, path);
	}
}

void check_live(const struct policy_file *file, const struct live *live, struct problems *problems)
{
	struct checking checking = { .policy = policy_file_policy(file),
		                     .live = live,
		                     .problems = problems,
		                     .place = { .file = policy_file_name(file) } };

	check_haproxies(&checking);
	check_backends(&checking);
	for (size_t i = 0; i < fleet_instance_count(live->fleet); i++) {
		const struct instance *instance = fleet_instance_at(live->fleet, i);

		for (uint32_t k = 0; k < instance->replica_count; k++)
			check_engine(&checking, instance, &instance->replicas[k]);
	}
}
