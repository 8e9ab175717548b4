/* test_fleet_adapters.c - which models are adapters, and who serves those. Proves B064, R131. */
#include "tests/policies/world.h"

static struct adapter_policy adapters[2];

static int begin(void **state)
{
	*state = world_new(2, 2);
	return 0;
}

static int end(void **state)
{
	world_free(*state);
	return 0;
}

static bool lists(struct world *world, const char *backend, const char *server, const char *model,
                  const char *adapter, const char *parent)
{
	struct span names[] = { SPAN(model), SPAN(adapter) };
	struct span bases[] = { { NULL, 0 }, SPAN(parent) };

	return fleet_models(world->facts->fleet, world_replica(world, backend, server)->target->id,
	                    names, bases, adapter[0] ? 2 : 1);
}

static uint32_t id(const struct world *world, const char *model)
{
	return fleet_model_id(world->facts->fleet, SPAN(model));
}

static const char *base_of(const struct world *world, const char *model)
{
	const struct fleet *fleet = world->facts->fleet;
	const char *name = fleet_model_name(fleet, fleet_base(fleet, id(world, model)));

	return name ? name : "";
}

static bool serves(const struct world *world, const char *backend, const char *server,
                   const char *model)
{
	return fleet_replica_serves(world->facts->fleet, world_instance(world, backend),
	                            world_replica(world, backend, server), id(world, model));
}

static size_t serving(const struct world *world, const char *model)
{
	size_t count;

	(void)fleet_serving(world->facts->fleet, id(world, model), &count);
	return count;
}

static void declare(struct world *world, const char *adapter, const char *model)
{
	snprintf(adapters[0].name, NAME_MAX_BYTES, "%s", adapter);
	snprintf(adapters[0].model, NAME_MAX_BYTES, "%s", model);
	world->policy.adapters = adapters;
	world->policy.adapter_count = 1;
	fleet_bind(world->facts->fleet, &world->policy);
}

static void an_engine_says_whose_adapter_it_is(void **state)
{
	struct world *world = *state;
	const struct fleet *fleet = world->facts->fleet;

	assert_false(fleet_has_adapters(fleet));
	assert_true(lists(world, "a", "s1", "llama", "sql", "llama"));
	assert_true(fleet_has_adapters(fleet));
	assert_true(fleet_adapter(fleet, id(world, "sql")) == lora_id(SPAN("sql")));
	assert_string_equal(base_of(world, "sql"), "llama");
	assert_true(fleet_adapter(fleet, id(world, "llama")) == 0);
	assert_true(fleet_adapter(fleet, TARGET_NONE) == 0);
	assert_int_equal(fleet_base(fleet, TARGET_NONE), 0);
	assert_true(fleet_adapter(fleet, 0) == 0);
	/* The same names, and it is one no more. */
	assert_false(lists(world, "a", "s1", "llama", "sql", "llama"));
	assert_true(lists(world, "a", "s1", "llama", "sql", ""));
	assert_true(fleet_adapter(fleet, id(world, "sql")) == 0);
	assert_false(fleet_has_adapters(fleet));
}

/* What only some engines list, only those have. */
static void who_lists_it_serves_it(void **state)
{
	struct world *world = *state;

	(void)lists(world, "a", "s1", "llama", "sql", "llama");
	(void)lists(world, "a", "s2", "llama", "", "");
	(void)lists(world, "b", "s1", "llama", "", "");
	assert_int_equal(serving(world, "llama"), 2);
	assert_int_equal(serving(world, "sql"), 1);
	assert_true(serves(world, "a", "s1", "sql"));
	assert_false(serves(world, "a", "s2", "sql"));
}

static void what_the_policy_names_whoever_has_the_base_can_load(void **state)
{
	struct world *world = *state;

	(void)lists(world, "a", "s1", "llama", "", "");
	(void)lists(world, "a", "s2", "qwen", "", "");
	(void)lists(world, "b", "s1", "qwen", "", "");
	(void)lists(world, "b", "s2", "qwen", "", "");
	assert_int_equal(id(world, "sql"), TARGET_NONE);
	declare(world, "sql", "llama");
	assert_string_equal(base_of(world, "sql"), "llama");
	assert_int_equal(serving(world, "sql"), 1);
	assert_true(serves(world, "a", "s1", "sql"));
	assert_false(serves(world, "a", "s2", "sql"));
	/* Nobody has the base: who lists the adapter itself has it. */
	declare(world, "sql", "none");
	(void)lists(world, "b", "s2", "qwen", "sql", "");
	assert_int_equal(serving(world, "sql"), 1);
	assert_true(serves(world, "b", "s2", "sql"));
	assert_false(serves(world, "a", "s1", "sql"));
	world->policy.adapter_count = 0;
	fleet_bind(world->facts->fleet, &world->policy);
	assert_false(fleet_has_adapters(world->facts->fleet));
}

static void models_of_an_instance_hold_for_its_adapters(void **state)
{
	struct world *world = *state;
	static char models[1][NAME_MAX_BYTES] = { "llama" };
	struct instance_policy instance = world->policy.default_instance;

	snprintf(instance.name, NAME_MAX_BYTES, "a");
	instance.models = models;
	instance.model_count = 1;
	world->policy.instances = &instance;
	world->policy.instance_count = 1;
	declare(world, "sql", "llama");
	assert_int_equal(serving(world, "sql"), 1);
	assert_true(serves(world, "a", "s1", "sql"));
	/* 404: not there, until it is listed. */
	(void)lists(world, "a", "s1", "llama", "", "");
	(void)lists(world, "a", "s2", "llama", "", "");
	assert_true(fleet_miss_model(world->facts->fleet, world_instance(world, "a"),
	                             world_replica(world, "a", "s1")->target->id,
	                             id(world, "sql")));
	assert_false(serves(world, "a", "s1", "sql"));
	assert_true(serves(world, "a", "s2", "sql"));
	(void)lists(world, "a", "s1", "llama", "sql", "llama");
	assert_true(serves(world, "a", "s1", "sql"));
	world->policy.instance_count = 0;
	fleet_bind(world->facts->fleet, &world->policy);
}

/* Two engines with the same name for adapters of different models; the policy knows better. */
static void all_agents_mean_the_same_base(void **state)
{
	struct world *world = *state;

	(void)lists(world, "a", "s1", "qwen", "sql", "qwen");
	(void)lists(world, "b", "s1", "llama", "sql", "llama");
	assert_string_equal(base_of(world, "sql"), "llama");
	(void)lists(world, "b", "s1", "zephyr", "sql", "zephyr");
	assert_string_equal(base_of(world, "sql"), "qwen");
	declare(world, "sql", "zephyr");
	assert_string_equal(base_of(world, "sql"), "zephyr");
	/* Its own base is nobody's. */
	(void)lists(world, "b", "s2", "m", "self", "self");
	assert_string_equal(base_of(world, "self"), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_engine_says_whose_adapter_it_is),
		TEST(who_lists_it_serves_it),
		TEST(what_the_policy_names_whoever_has_the_base_can_load),
		TEST(models_of_an_instance_hold_for_its_adapters),
		TEST(all_agents_mean_the_same_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
