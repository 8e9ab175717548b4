/* state_adapters.c - LoRA adapters as JSON: whose they are, how hot, and where. */
#include "policies/state/lora_look.h"
#include "spoa/admin/state.h"
#include "spoa/admin/text_json.h"

/* The replicas that would not have to load it. */
static json_t *there_json(const struct sources *sources, const struct instance *instance,
                          uint64_t lora)
{
	const struct facts *facts = sources->facts;
	json_t *list = json_array();

	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (lora_is_there(facts, replica->target->id, lora, sources->now))
			(void)json_array_append_new(
			        list, name_json(replica_label(facts->fleet, instance, replica)));
	}
	return list;
}

static json_t *adapter_json(const struct sources *sources, uint32_t model,
                            const struct instance *instance)
{
	const struct facts *facts = sources->facts;
	uint64_t lora = fleet_adapter(facts->fleet, model);
	uint32_t at = instance->target->id;

	return json_pack(
	        "{s:o, s:o, s:o, s:i, s:f, s:o}", "adapter",
	        name_json(fleet_model_name(facts->fleet, model)), "base",
	        name_json(fleet_model_name(facts->fleet, fleet_base(facts->fleet, model))),
	        "instance", name_json(instance->name), "open",
	        (int)adapters_open(facts->adapters, lora, at), "heat",
	        adapters_heat(facts->adapters, lora, at, sources->now, facts->policy->lora.cooling),
	        "there", there_json(sources, instance, lora));
}

json_t *state_adapters(const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;
	json_t *list = json_array();

	for (uint32_t id = 1; id <= fleet_model_count(fleet); id++) {
		const struct instance *const *serving;
		size_t count;

		if (fleet_adapter(fleet, id) == 0)
			continue;
		serving = fleet_serving(fleet, id, &count);
		for (size_t i = 0; i < count; i++)
			(void)json_array_append_new(list, adapter_json(sources, id, serving[i]));
	}
	return json_pack("{s:o}", "adapters", list);
}
