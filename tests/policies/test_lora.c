/* test_lora.c - a request for an adapter from its decision to its end, and what of the policy
 * holds for it. Proves B064, B018, P063, R131. */
#include "policies/feedback.h"
#include "policies/prompt.h"
#include "policies/rules.h"
#include "tests/policies/adapted.h"

static struct rule rules[2];
static struct profile profiles[2];
static struct profile_step steps[2];

static int begin(void **state)
{
	*state = adapted_new(1, 4, 2);
	return 0;
}

static int end(void **state)
{
	adapted_free(*state);
	return 0;
}

static uint64_t lora(uint32_t i)
{
	return lora_id(i == 0 ? SPAN("l0") : SPAN("l1"));
}

static struct adapters *adapters_of(const struct adapted *adapted)
{
	return adapted->world->facts->adapters;
}

static uint32_t open_at(const struct adapted *adapted, uint32_t i, uint32_t at)
{
	return adapters_open(adapters_of(adapted), lora(i), at);
}

static bool is_there(const struct adapted *adapted, uint32_t i, uint32_t target)
{
	return adapters_resident(adapters_of(adapted), target, lora(i), 0, adapted->world->now,
	                         adapted->world->policy.lora.remember);
}

static struct served served(const struct adapted *adapted, const char *server)
{
	return (struct served){
		.backend = SPAN("a"),
		.server = SPAN(server),
		.address = SPAN(world_replica(adapted->world, "a", server)->target->label)
	};
}

static struct stream_end stream_end(const struct adapted *adapted, struct span id,
                                    const char *server, int status)
{
	return (struct stream_end){ .id = id,
		                    .by = served(adapted, server),
		                    .status = status,
		                    .termination = "----",
		                    .routed = true,
		                    .applied = true };
}

static void it_is_counted_from_decision_to_end(void **state)
{
	struct adapted *adapted = *state;
	struct world *world = adapted->world;
	struct request request = adapted_ask(adapted, 0);
	struct decision decision = world_decide(world, request);
	const char *server = server_of(&decision);
	uint32_t target = adapted_target(adapted, server);
	uint32_t instance = decision.instance->target->id;
	struct target_counters *counters = &world->facts->counters->of[target];
	struct stream_end over = stream_end(adapted, request.id, server, 200);

	assert_string_equal(server, adapted_order(adapted, 0, 0));
	assert_int_equal(open_at(adapted, 0, instance), 1);
	assert_int_equal(open_at(adapted, 0, TARGET_NONE), 1);
	assert_int_equal(open_at(adapted, 1, instance), 0);
	assert_true(is_there(adapted, 0, target));
	assert_true(is_there(adapted, 0, instance));
	assert_int_equal(counters->adapter_requests, 1);
	assert_int_equal(counters->adapter_loads, 1);
	(void)adapted_send(adapted, 0);
	assert_int_equal(counters->adapter_requests, 2);
	assert_int_equal(counters->adapter_loads, 1);
	assert_int_equal(open_at(adapted, 0, instance), 2);
	(void)feedback_end(world->facts, &over, world->now);
	assert_int_equal(open_at(adapted, 0, instance), 1);
	assert_int_equal(open_at(adapted, 0, TARGET_NONE), 1);
	assert_true(is_there(adapted, 0, target));
	(void)feedback_end(world->facts, &over, world->now);
	assert_int_equal(open_at(adapted, 0, instance), 1);
}

static void who_served_has_it(void **state)
{
	struct adapted *adapted = *state;
	struct world *world = adapted->world;
	struct request request = adapted_ask(adapted, 0);
	const char *other = adapted_order(adapted, 0, 2);
	struct first_byte first = { .by = served(adapted, other), .status = 200 };

	(void)world_decide(world, request);
	first.id = request.id;
	assert_false(is_there(adapted, 0, adapted_target(adapted, other)));
	(void)feedback_first_byte(world->facts, &first, world->now);
	assert_true(is_there(adapted, 0, adapted_target(adapted, other)));
}

static void who_failed_may_not_have_it(void **state)
{
	struct adapted *adapted = *state;
	struct request request = adapted_ask(adapted, 0);
	const char *server = adapted_order(adapted, 0, 0);
	struct stream_end over;

	(void)world_decide(adapted->world, request);
	over = stream_end(adapted, request.id, server, 500);
	(void)feedback_end(adapted->world->facts, &over, adapted->world->now);
	assert_false(is_there(adapted, 0, adapted_target(adapted, server)));
	assert_int_equal(open_at(adapted, 0, TARGET_NONE), 0);
}

static void an_end_that_never_comes_ends_with_the_ledger(void **state)
{
	struct adapted *adapted = *state;
	struct world *world = adapted->world;

	(void)adapted_send(adapted, 0);
	assert_int_equal(feedback_process_gone(world->facts, 0, world->now), 1);
	assert_int_equal(open_at(adapted, 0, TARGET_NONE), 0);
}

static void a_late_answer_is_none_of_its_requests(void **state)
{
	struct adapted *adapted = *state;
	struct world *world = adapted->world;
	struct request request = adapted_ask(adapted, 0);
	struct decision decision = world_decide(world, request);
	struct stream_end over = stream_end(adapted, SPAN("id-1"), server_of(&decision), 200);

	feedback_late(world->facts, request.id, world->now);
	assert_int_equal(open_at(adapted, 0, TARGET_NONE), 0);
	(void)adapted_send(adapted, 0);
	(void)feedback_end(world->facts, &over, world->now);
	assert_int_equal(open_at(adapted, 0, TARGET_NONE), 1);
}

static void an_engine_that_restarted_has_none(void **state)
{
	struct adapted *adapted = *state;
	struct decision decision = adapted_send(adapted, 0);
	uint32_t target = decision.replica->target->id;

	facts_engine_restarted(adapted->world->facts, target, adapted->world->now);
	assert_false(is_there(adapted, 0, target));
}

/* The base's prompts, another adapter's and its own do not mix, whoever asks. */
static void prompts_of_an_adapter_are_its_own(void **state)
{
	struct adapted *adapted = *state;
	const struct fleet *fleet = adapted->world->facts->fleet;
	struct request request = { .id = SPAN("x") };
	const char *const models[] = { "llama", "l0", "l1", "other" };
	struct prompt prompts[4];
	struct span ladder = SPAN(LADDER_DEFAULT), none = { NULL, 0 };
	struct span base = SPAN("llama"), own = SPAN("l0");
	uint64_t chain[LADDER_BLOCKS_MAX];

	prompt_set(&request, 40000, 40000, 1, 1);
	for (size_t i = 0; i < COUNT(models); i++) {
		struct model_names names = fleet_model_names(
		        fleet, fleet_model_id(fleet, SPAN(models[i])), SPAN(models[i]));

		prompt_of(&request, &adapted->world->policy, NULL, &names, &prompts[i]);
		for (size_t k = 0; k < i; k++)
			assert_true(prompts[i].chain[0] != prompts[k].chain[0]);
	}
	prefix_chain(NULL, prefix_name_space(&ladder, &base, &own, &none), request.hashes, 12,
	             chain);
	assert_memory_equal(prompts[1].chain, chain, 12 * sizeof(chain[0]));
}

static void the_rule_of_the_base_is_its_rule(void **state)
{
	struct adapted *adapted = *state;
	struct policy *policy = &adapted->world->policy;
	struct model_names names = { SPAN("l0"), SPAN("llama") };
	struct request request = { .id = SPAN("x") };

	rules[0] = (struct rule){ .model = "llama" };
	rules[1] = (struct rule){ .model = "l1" };
	policy->rules = rules;
	policy->rule_count = 2;
	assert_ptr_equal(rule_for(policy, &request, &names), &rules[0]);
	names.own = SPAN("l1");
	assert_ptr_equal(rule_for(policy, &request, &names), &rules[1]);
	names.base = SPAN("other");
	names.own = SPAN("l0");
	assert_ptr_equal(rule_for(policy, &request, &names), &policy->default_rule);
	policy->rule_count = 0;
}

static void the_profile_of_the_base_is_its_profile(void **state)
{
	struct adapted *adapted = *state;
	struct policy *policy = &adapted->world->policy;

	steps[0] = (struct profile_step){ 0, strategy_named(SPAN("random")) };
	profiles[0] = (struct profile){ .model = "llama", .steps = steps, .step_count = 1 };
	policy->profiles = profiles;
	policy->profile_count = 1;
	assert_string_equal(adapted_send(adapted, 0).levels[1].asked->name, "random");
	profiles[0] = (struct profile){ .model = "l1", .steps = steps, .step_count = 1 };
	assert_string_equal(adapted_send(adapted, 0).levels[1].asked->name, "least-work");
	assert_string_equal(adapted_send(adapted, 1).levels[1].asked->name, "random");
	/* One for any model counts less than one of the base. */
	steps[1] = (struct profile_step){ 0, strategy_named(SPAN("least-request")) };
	profiles[0] = (struct profile){ .model = "", .steps = &steps[1], .step_count = 1 };
	profiles[1] = (struct profile){ .model = "llama", .steps = steps, .step_count = 1 };
	policy->profile_count = 2;
	assert_string_equal(adapted_send(adapted, 0).levels[1].asked->name, "random");
	policy->profile_count = 0;
}

/* What the base is called at the engines is no name of the adapter's. */
static void it_is_called_the_same_at_the_engines(void **state)
{
	struct adapted *adapted = *state;
	struct policy *policy = &adapted->world->policy;
	struct instance_policy instance = policy->default_instance;
	struct request request = world_ask(adapted->world);

	snprintf(instance.name, NAME_MAX_BYTES, "a");
	snprintf(instance.upstream_model, NAME_MAX_BYTES, "meta/llama");
	policy->instances = &instance;
	policy->instance_count = 1;
	fleet_bind(adapted->world->facts->fleet, policy);
	request.model = SPAN("llama");
	assert_int_equal(world_decide(adapted->world, request).upstream_model.len, 10);
	assert_null(adapted_send(adapted, 0).upstream_model.at);
	policy->instance_count = 0;
	fleet_bind(adapted->world->facts->fleet, policy);
}

/* Two instances: a cold adapter is of one, a hot one of both. */
static void instances_have_an_order_too(void **state)
{
	struct adapted *two = adapted_new(2, 4, 8);
	uint32_t of_a = 0;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct request request = adapted_ask(two, i);
		struct decision decision;

		request.backend = (struct span){ NULL, 0 };
		decider_explain(two->world->decider, &request, two->world->now, &decision);
		assert_int_equal(decision.levels[0].standing, 1);
		assert_int_equal(decision.levels[0].adapter.wanted, 1);
		assert_int_equal(decision.levels[1].standing, 1);
		of_a += decision.instance->name[0] == 'a';
		for (uint32_t n = 0; n < 16; n++)
			(void)adapters_begin(two->world->facts->adapters,
			                     lora_id(SPAN(two->adapters[i].name)), TARGET_NONE,
			                     two->world->now, 60 * SECOND);
		decider_explain(two->world->decider, &request, two->world->now, &decision);
		assert_int_equal(decision.levels[0].adapter.wanted, 5); /* 17 / 4 */
		assert_int_equal(decision.levels[0].standing, 2);
	}
	assert_in_range(of_a, 1, 7);
	adapted_free(two);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_counted_from_decision_to_end),
		TEST(who_served_has_it),
		TEST(who_failed_may_not_have_it),
		TEST(an_end_that_never_comes_ends_with_the_ledger),
		TEST(a_late_answer_is_none_of_its_requests),
		TEST(an_engine_that_restarted_has_none),
		TEST(prompts_of_an_adapter_are_its_own),
		TEST(the_rule_of_the_base_is_its_rule),
		TEST(the_profile_of_the_base_is_its_profile),
		TEST(it_is_called_the_same_at_the_engines),
		cmocka_unit_test(instances_have_an_order_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
