/* test_upstream.c - the model's name at the engines. Proves R014. */
#include "tests/policies/world.h"

static struct world *world;
static struct instance_policy instances[2];

/* Instances a and b, which the policy names. */
static int begin(void **state)
{
	(void)state;
	world = world_new(2, 1);
	for (size_t i = 0; i < 2; i++) {
		instances[i] = world->policy.default_instance;
		instances[i].name[0] = (char)('a' + i);
		instances[i].name[1] = '\0';
	}
	world->policy.instances = instances;
	world->policy.instance_count = 2;
	facts_set_policy(world->facts, &world->policy);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

/* What a request of this model that is served by this instance is told; "-" for nothing. */
static const char *told(const char *instance, const char *model)
{
	static char text[NAME_MAX_BYTES];
	struct request request = world_ask(world);
	struct decision decision;

	request.backend = SPAN(instance);
	if (model)
		request.model = SPAN(model);
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	(void)snprintf(text, sizeof(text), "%.*s", (int)decision.upstream_model.len,
	               decision.upstream_model.at ? decision.upstream_model.at : "-");
	return decision.upstream_model.at ? text : "-";
}

static void each_instance_has_its_own_name(void **state)
{
	(void)state;
	assert_string_equal(told("a", "m"), "-");
	(void)strcpy(instances[0].upstream_model, "org/M");
	(void)strcpy(instances[1].upstream_model, "M-fp8");
	assert_string_equal(told("a", "m"), "org/M");
	assert_string_equal(told("b", "m"), "M-fp8");
	assert_string_equal(told("b", NULL), "M-fp8");
	/* The same name is none. */
	assert_string_equal(told("a", "org/M"), "-");
}

static void a_rule_names_it_where_the_instance_does_not(void **state)
{
	(void)state;
	(void)strcpy(world->policy.default_rule.upstream_model, "rule-M");
	assert_string_equal(told("a", "m"), "rule-M");
	(void)strcpy(instances[0].upstream_model, "org/M");
	assert_string_equal(told("a", "m"), "org/M");
	assert_string_equal(told("b", "m"), "rule-M");
}

static void a_refusal_names_nothing(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	(void)strcpy(instances[0].upstream_model, "org/M");
	instances[0].chain[0].hard.running = instances[0].chain[0].admit.running = 1;
	world_busy(world, "a", "s1", 9);
	average_add(&averages_of(world->facts->averages, world_instance(world, "a")->target->id)
	                     ->ttft_ms,
	            100, 30 * SECOND, world->now);
	request.backend = SPAN("a");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_null(decision.upstream_model.at);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_instance_has_its_own_name),
		TEST(a_rule_names_it_where_the_instance_does_not),
		TEST(a_refusal_names_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
