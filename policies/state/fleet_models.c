/* fleet_models.c - which instance serves which model.
 *
 * A name gets a small number while an engine or the policy names it. Clients'
 * names get none, so the table cannot be filled by them. */
#include "policies/core/bug.h"
#include "policies/state/engine.h"
#include "policies/state/fleet.h"
#include "policies/state/fleet_parts.h"

static uint32_t find_model(const struct fleet *fleet, struct span name)
{
	uint64_t hash = lookup_hash(name, 0);
	uint32_t at = 0;
	uint32_t id;

	while (lookup_next(fleet->by_model, hash, &at, &id))
		if (is_name(fleet->models[id].name, name))
			return id;
	return 0;
}

/* 0 when there is no room, or the name does not fit. */
static uint32_t intern(struct fleet *fleet, struct span name)
{
	uint32_t id = find_model(fleet, name);

	if (id == 0 && name.len > 0 && name.len < NAME_MAX_BYTES) {
		for (id = 1; id <= fleet->models_end && fleet->models[id].name[0] != '\0'; id++)
			;
		if (id > fleet->limits.models)
			return 0;
		fleet->models_end += id > fleet->models_end;
		fleet->models[id] = (struct model){ 0 };
		memcpy(fleet->models[id].name, name.at, name.len);
		lookup_add(fleet->by_model, lookup_hash(name, 0), id);
	}
	if (id != 0)
		fleet->models[id].used = true;
	return id;
}

/* Only marks what is there already. */
static uint32_t mark(struct fleet *fleet, struct span name)
{
	uint32_t id = find_model(fleet, name);

	fleet->models[id].used = true; /* 0 is nobody's */
	return id;
}

/* A rule's "" and "x*" name no model. */
static bool names_a_model(struct span pattern)
{
	return pattern.len > 0 && pattern.at[pattern.len - 1] != '*';
}

static void visit_policy_names(struct fleet *fleet, const struct policy *policy,
                               uint32_t (*visit)(struct fleet *fleet, struct span name))
{
	(void)visit(fleet, span_of(policy->default_model));
	for (uint32_t i = 0; i < policy->rule_count; i++)
		if (names_a_model(span_of(policy->rules[i].model)))
			(void)visit(fleet, span_of(policy->rules[i].model));
	for (uint32_t i = 0; i < policy->instance_count; i++)
		for (uint32_t j = 0; j < policy->instances[i].model_count; j++)
			(void)visit(fleet, span_of(policy->instances[i].models[j]));
	for (uint32_t i = 0; i < policy->alias_count; i++) {
		uint32_t id = visit(fleet, span_of(policy->aliases[i].name));
		uint32_t means = visit(fleet, span_of(policy->aliases[i].model));

		fleet->models[id].means = id == means ? 0 : means;
	}
	for (uint32_t i = 0; i < policy->adapter_count; i++) {
		(void)visit(fleet, span_of(policy->adapters[i].name));
		(void)visit(fleet, span_of(policy->adapters[i].model));
	}
}

static void drop_unused_names(struct fleet *fleet)
{
	lookup_clear(fleet->by_model);
	for (uint32_t id = 1; id <= fleet->models_end; id++) {
		if (!fleet->models[id].used)
			fleet->models[id].name[0] = '\0';
		if (fleet->models[id].name[0] != '\0')
			lookup_add(fleet->by_model, lookup_hash(span_of(fleet->models[id].name), 0),
			           id);
	}
}

static void name_models(struct fleet *fleet)
{
	for (uint32_t id = 0; id <= fleet->models_end; id++) {
		fleet->models[id].used = fleet->models[id].loadable = false;
		fleet->models[id].base = 0;
		fleet->models[id].adapter = 0;
		fleet->models[id].means = fleet->models[id].first = fleet->models[id].count = 0;
	}
	for (uint32_t i = 0; i < fleet->targets_max; i++)
		for (uint32_t j = 0; j < fleet->served[i].count; j++) {
			fleet->models[fleet->served[i].ids[j]].used = true;
			fleet->models[fleet->served[i].bases[j]].used = true;
		}
	for (uint32_t i = 0; i < fleet->targets_max; i++)
		for (uint32_t j = 0; j < fleet->served[i].missed_count; j++)
			fleet->models[fleet->served[i].missed[j]].used = true;
	if (fleet->policy)
		visit_policy_names(fleet, fleet->policy, mark);
	drop_unused_names(fleet);
	if (fleet->policy)
		visit_policy_names(fleet, fleet->policy, intern);
	fleet->models[0].means = 0;
}

static void make_adapter(struct fleet *fleet, uint32_t id, uint32_t base)
{
	struct model *model = &fleet->models[id];

	if (id == 0 || base == 0 || id == base)
		return;
	model->base = base;
	model->adapter = lora_id(span_of(model->name));
	fleet->any_adapter = true;
}

/* Where engines differ on the base of a name it is the first by the alphabet, so that all
 * agents mean the same; what the policy says counts before any engine's list. */
static void name_adapters(struct fleet *fleet)
{
	const struct policy *policy = fleet->policy;

	fleet->any_adapter = false;
	for (uint32_t i = 0; i < fleet->targets_max; i++) {
		const struct served_models *served = &fleet->served[i];

		for (uint32_t j = 0; j < served->count; j++) {
			uint32_t known = fleet->models[served->ids[j]].base;

			if (known == 0 || strcmp(fleet->models[served->bases[j]].name,
			                         fleet->models[known].name) < 0)
				make_adapter(fleet, served->ids[j], served->bases[j]);
		}
	}
	for (uint32_t i = 0; policy && i < policy->adapter_count; i++) {
		uint32_t id = find_model(fleet, span_of(policy->adapters[i].name));
		uint32_t base = find_model(fleet, span_of(policy->adapters[i].model));

		make_adapter(fleet, id, base);
		fleet->models[id].loadable = id != 0 && fleet->models[id].base != 0;
	}
}

static bool has_model(const struct served_models *served, uint32_t id)
{
	for (uint32_t i = 0; i < served->count; i++)
		if (served->ids[i] == id)
			return true;
	return false;
}

/* A name that found no room leaves it unknown what is served, not known to be nothing. */
static void add_model(struct served_models *served, uint32_t id, uint32_t base)
{
	if (id == 0 || served->count == INSTANCE_MODELS_MAX || has_model(served, id))
		return;
	served->known = true;
	served->bases[served->count] = (uint16_t)base;
	served->ids[served->count++] = (uint16_t)id;
}

/* What an instance serves, of the policy, or else what any of its engines says. */
static void gather_offer(const struct fleet *fleet, struct instance *instance,
                         struct served_models *ret_offer)
{
	*ret_offer = (struct served_models){ 0 };
	instance->models_known = false;
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		struct replica *replica = &instance->replicas[i];
		const struct served_models *served = &fleet->served[replica->target->id];

		replica->models_known = served->known || fleet_policy_names_models(instance);
		instance->models_known |= replica->models_known;
		for (uint32_t j = 0; j < served->count && !fleet_policy_names_models(instance); j++)
			add_model(ret_offer, served->ids[j], served->bases[j]);
	}
	if (fleet_policy_names_models(instance))
		for (uint32_t i = 0; i < instance->policy->model_count; i++)
			add_model(ret_offer,
			          find_model(fleet, span_of(instance->policy->models[i])), 0);
}

/* Runs of instances, one for each model: counted, laid out, filled in. */
static void pair_up(struct fleet *fleet)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < fleet->instance_count; i++)
		for (uint32_t j = 0; j < fleet->offered[i].count; j++)
			fleet->models[fleet->offered[i].ids[j]].count++;
	fleet->serving_known = 0;
	for (uint32_t id = 1; id <= fleet->models_end; id++) {
		fleet->models[id].first = first;
		first += fleet->models[id].count;
		fleet->serving_known += fleet->models[id].count > 0;
		fleet->models[id].count = 0;
	}
	for (uint32_t i = 0; i < fleet->instance_count; i++)
		for (uint32_t j = 0; j < fleet->offered[i].count; j++) {
			struct model *model = &fleet->models[fleet->offered[i].ids[j]];

			fleet->pairs[model->first + model->count++] = &fleet->instances[i];
		}
}

void fleet_view_models(struct fleet *fleet)
{
	name_models(fleet);
	name_adapters(fleet);
	fleet->unknown_count = 0;
	for (uint32_t i = 0; i < fleet->instance_count; i++) {
		gather_offer(fleet, &fleet->instances[i], &fleet->offered[i]);
		fleet->everyone[i] = &fleet->instances[i];
		if (!fleet->offered[i].known)
			fleet->unknown[fleet->unknown_count++] = &fleet->instances[i];
	}
	pair_up(fleet);
}

static bool same_models(const struct served_models *a, const struct served_models *b)
{
	if (a->known != b->known || a->count != b->count || a->missed_count != b->missed_count)
		return false;
	for (uint32_t i = 0; i < b->count; i++) {
		uint32_t j = 0;

		while (j < a->count && a->ids[j] != b->ids[i])
			j++;
		if (j == a->count || a->bases[j] != b->bases[i])
			return false;
	}
	return true;
}

bool fleet_models(struct fleet *fleet, uint32_t target, const struct span *models,
                  const struct span *bases, size_t count)
{
	struct served_models served = { 0 };

	if (!fleet_target(fleet, target))
		return false;
	for (size_t i = 0; i < count; i++)
		add_model(&served, intern(fleet, models[i]), bases ? intern(fleet, bases[i]) : 0);
	fleet_keep_missed(fleet, target, models, count, &served);
	if (same_models(&served, &fleet->served[target]))
		return false;
	fleet->served[target] = served;
	fleet_view_models(fleet);
	return true;
}

/* Of an instance that has this target, by its policy. */
static const char *named_by_policy(const struct fleet *fleet, uint32_t target)
{
	for (uint32_t i = 0; i < fleet->instance_count; i++) {
		const struct instance *instance = &fleet->instances[i];

		if (!fleet_policy_names_models(instance) ||
		    !fleet_replica_of_target(fleet, instance, target))
			continue;
		return instance->policy->upstream_model[0] ? instance->policy->upstream_model
		                                           : instance->policy->models[0];
	}
	return NULL;
}

const char *fleet_name_at(const struct fleet *fleet, uint32_t target)
{
	const struct served_models *served = &fleet->served[target];

	return served->known ? fleet->models[served->ids[0]].name : named_by_policy(fleet, target);
}

uint32_t fleet_model_id(const struct fleet *fleet, struct span name)
{
	uint32_t id;

	if (name.len == 0)
		return 0;
	id = find_model(fleet, name);
	if (id == 0)
		return TARGET_NONE;
	return fleet->models[id].means != 0 ? fleet->models[id].means : id;
}

const char *fleet_model_name(const struct fleet *fleet, uint32_t model)
{
	if (model == 0 || model > fleet->models_end || fleet->models[model].name[0] == '\0')
		return NULL;
	return fleet->models[model].name;
}

struct model_names fleet_model_names(const struct fleet *fleet, uint32_t model, struct span asked)
{
	const char *own = fleet_model_name(fleet, model);
	const char *base = fleet_model_name(fleet, fleet_base(fleet, model));

	return (struct model_names){ .own = own ? span_of(own) : asked,
		                     .base = base ? span_of(base) : (struct span){ NULL, 0 } };
}

uint64_t fleet_adapter(const struct fleet *fleet, uint32_t model)
{
	return model <= fleet->models_end ? fleet->models[model].adapter : 0;
}

uint32_t fleet_base(const struct fleet *fleet, uint32_t model)
{
	return model <= fleet->models_end ? fleet->models[model].base : 0;
}

bool fleet_has_adapters(const struct fleet *fleet)
{
	return fleet->any_adapter;
}

size_t fleet_model_count(const struct fleet *fleet)
{
	return fleet->models_end;
}

/* The only model that is served, where there is just one; else the policy's default. */
static uint32_t model_of_the_nameless(const struct fleet *fleet)
{
	for (uint32_t id = 1; fleet->serving_known == 1 && id <= fleet->models_end; id++)
		if (fleet->models[id].count > 0)
			return id;
	return fleet->policy ? fleet_model_id(fleet, span_of(fleet->policy->default_model)) : 0;
}

/* Whose word it is that counts: of an adapter that anybody can load, who serves its base. */
static uint32_t served_as(const struct fleet *fleet, uint32_t model)
{
	uint32_t base = fleet_base(fleet, model);

	return base != 0 && fleet->models[model].loadable && fleet->models[base].count > 0 ? base
	                                                                                   : model;
}

const struct instance *const *fleet_serving(const struct fleet *fleet, uint32_t model,
                                            size_t *ret_count)
{
	if (model == 0 && fleet->serving_known == 0) {
		*ret_count = fleet->instance_count;
		return fleet->everyone;
	}
	if (model == 0) {
		model = model_of_the_nameless(fleet);
		*ret_count = 0;
		if (model == 0)
			return fleet->everyone;
	}
	model = served_as(fleet, model);
	if (model <= fleet->models_end && fleet->models[model].count > 0) {
		*ret_count = fleet->models[model].count;
		return &fleet->pairs[fleet->models[model].first];
	}
	*ret_count = fleet->unknown_count;
	return fleet->unknown;
}

bool fleet_replica_serves(const struct fleet *fleet, const struct instance *instance,
                          const struct replica *replica, uint32_t model)
{
	const struct served_models *served = &fleet->served[replica->target->id];

	if (model == 0 || !replica->models_known)
		return true;
	if (model > fleet->models_end || fleet_is_missed(served, model))
		return false;
	if (fleet_policy_names_models(instance))
		served = &fleet->offered[instance - fleet->instances];
	return has_model(served, model) ||
	       (fleet->models[model].loadable && has_model(served, fleet->models[model].base));
}
