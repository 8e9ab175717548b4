/* test_queue.c - class, objectives and offset of a request, by who says what. Proves R155,
 * B039, B042, each as far as the agent decides it. */
#include "policies/queue.h"

#include "policies/classes.h"
#include "tests/policies/world.h"

static struct policy policy;
static struct request request;

static int reset(void **state)
{
	(void)state;
	policy_default(&policy);
	request = (struct request){ .source = 0 };
	return 0;
}

static const struct class_policy *class_of(const char *name)
{
	const struct class_policy *class = class_named(&policy, SPAN(name));

	assert_non_null(class);
	return class;
}

static struct queue_place place(const char *tenant, const char *model)
{
	return queue_place(&policy, &request,
	                   &(struct queue_classes){ tenant ? class_of(tenant) : NULL,
	                                            model ? class_of(model) : NULL });
}

static void nothing_said_is_the_class_default(void **state)
{
	struct decision decision = { .priority = 5 };
	struct queue_place found = place(NULL, NULL);

	(void)state;
	assert_string_equal(found.class_of->name, "default");
	queue_set(&policy.queue, &found, 0, &decision);
	assert_int_equal(decision.priority, 0);
	assert_int_equal(decision.priority_offset_ms, 0);
}

static void the_tenants_class_counts_before_the_models(void **state)
{
	(void)state;
	assert_string_equal(place("batch", "interactive").class_of->name, "batch");
	assert_string_equal(place(NULL, "interactive").class_of->name, "interactive");
}

static void a_clients_word_counts_only_where_the_policy_believes_it(void **state)
{
	(void)state;
	request.priority = SPAN("Interactive");
	assert_string_equal(place("batch", NULL).class_of->name, "batch");
	policy.queue.client_priority = true;
	assert_string_equal(place("batch", NULL).class_of->name, "interactive");
	assert_float_equal(place("batch", NULL).priority, -10, 0);
}

static void a_client_may_say_a_number_and_keeps_its_class(void **state)
{
	static const struct {
		const char *text;
		double priority;
		bool unknown;
	} rows[] = { { "7", 7, false },    { "-2047", -2047, false }, { "2047", 2047, false },
		     { "2048", 10, true }, { "-2048", 10, true },     { "-", 10, true },
		     { "1e3", 10, true },  { "000001", 10, true },    { "nobody", 10, true },
		     { "+1", 10, true } };

	(void)state;
	policy.queue.client_priority = true;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct queue_place found;

		request.priority = SPAN(rows[i].text);
		found = place("batch", NULL);
		assert_string_equal(found.class_of->name, "batch");
		assert_float_equal(found.priority, rows[i].priority, 0);
		assert_int_equal(found.unknown, rows[i].unknown);
	}
}

static void a_step_of_priority_is_worth_a_second_of_waiting(void **state)
{
	struct decision batch = { 0 }, interactive = { 0 };
	struct queue_place found = place("batch", NULL);

	(void)state;
	queue_set(&policy.queue, &found, 0, &batch);
	found = place("interactive", NULL);
	queue_set(&policy.queue, &found, 2750, &interactive);
	assert_int_equal(batch.priority, 0);
	assert_int_equal(batch.priority_offset_ms, 10000);
	assert_int_equal(interactive.priority, 0);
	assert_int_equal(interactive.priority_offset_ms, -7250);
}

static void strict_classes_are_haproxys_own(void **state)
{
	struct decision decision = { 0 };
	struct queue_place found = place("interactive", NULL);

	(void)state;
	policy.queue.priority_step = 0;
	queue_set(&policy.queue, &found, 600.5, &decision);
	assert_int_equal(decision.priority, -10);
	assert_int_equal(decision.priority_offset_ms, 601);
	queue_set(&policy.queue, &found, -600.5, &decision);
	assert_int_equal(decision.priority_offset_ms, -601);
}

static void an_offset_stays_within_what_haproxy_remembers(void **state)
{
	struct decision decision = { 0 };
	struct queue_place found = { .class_of = class_of("batch"), .priority = 2047 };

	(void)state;
	policy.queue.priority_step = 60 * SECOND;
	queue_set(&policy.queue, &found, 30000, &decision);
	assert_int_equal(decision.priority_offset_ms, QUEUE_OFFSET_MAX_MS);
	found.priority = -2047;
	queue_set(&policy.queue, &found, 0, &decision);
	assert_int_equal(decision.priority_offset_ms, -QUEUE_OFFSET_MAX_MS);
}

static void each_objective_is_the_clients_then_the_classes_then_the_policys(void **state)
{
	struct class_policy class = { .objectives = { 200, 20, 0 } };
	struct objectives found;

	(void)state;
	policy.queue.objectives = (struct objectives){ 100, 10, 1000 };
	request.objectives = (struct objectives){ 300, 0, 0 };
	found = queue_objectives(&policy, &request, &class);
	assert_float_equal(found.ttft_ms, 200, 0);
	assert_float_equal(found.tpot_ms, 20, 0);
	assert_float_equal(found.e2e_ms, 1000, 0);
	policy.queue.client_objectives = true;
	found = queue_objectives(&policy, &request, &class);
	assert_float_equal(found.ttft_ms, 300, 0);
	assert_float_equal(found.tpot_ms, 20, 0);
	assert_float_equal(found.e2e_ms, 1000, 0);
}

static void a_decision_has_the_place_of_its_models_class(void **state)
{
	struct tenant_policy acme = { .name = "acme-*",
		                      .weight = 1,
		                      .class_of = class_of("interactive") };
	struct world *world = world_new(1, 2);
	struct request ask;

	(void)state;
	world->policy.default_rule.class_of = class_of("batch");
	assert_int_equal(world_decide(world, world_ask(world)).priority_offset_ms, 10000);
	assert_string_equal(world_decide(world, world_ask(world)).class_of->name, "batch");
	world->policy.queue.client_priority = true;
	ask = world_ask(world);
	ask.priority = SPAN("what");
	assert_int_equal(world_decide(world, ask).priority_offset_ms, 10000);
	assert_int_equal(world->facts->counters->unknown_class, 1);
	ask = world_ask(world);
	ask.tenant = SPAN("acme");
	assert_int_equal(world_decide(world, ask).priority_offset_ms, 10000);
	world->policy.tenants = &acme;
	world->policy.tenant_count = 1;
	ask = world_ask(world);
	ask.tenant = SPAN("acme-2");
	assert_int_equal(world_decide(world, ask).priority_offset_ms, -10000);
	ask = world_ask(world);
	ask.priority = SPAN("interactive");
	assert_int_equal(world_decide(world, ask).priority_offset_ms, -10000);
	assert_int_equal(world->facts->counters->unknown_class, 1);
	world_free(world);
}

static void charge(struct world *world, const char *tenant, double tokens)
{
	tenants_charge(world->facts->tenants, tenant_key(SPAN(tenant)), SPAN(tenant), tokens, 0,
	               world->now);
}

static int32_t offset_of(struct world *world, const char *tenant)
{
	struct request ask = world_ask(world);

	ask.tenant = SPAN(tenant);
	return world_decide(world, ask).priority_offset_ms;
}

static void who_had_much_lately_waits_longer_where_that_is_the_strategy(void **state)
{
	struct world *world = world_new(1, 4);

	(void)state;
	world_strategy(world, "vtc-basic");
	charge(world, "light", 1000);
	charge(world, "heavy", 12000);
	assert_int_equal(offset_of(world, "light"), 0);
	/* No engine has told how fast it is: 1000 tokens/s; and the light one's own request
	 * has added its 2 x 256 expected tokens. */
	assert_in_range(offset_of(world, "heavy"), 10000, 11000);
	world_strategy(world, "least-request");
	assert_int_equal(offset_of(world, "heavy"), 0);
	world_free(world);
}

static void the_policys_own_class_takes_the_place_of_the_built_in_one(void **state)
{
	struct class_policy own = { .name = "batch", .priority = 3 };

	(void)state;
	policy.classes = &own;
	policy.class_count = 1;
	assert_ptr_equal(class_of("BATCH"), &own);
	assert_float_equal(class_of("interactive")->priority, -10, 0);
	assert_null(class_named(&policy, SPAN("none")));
	assert_null(class_builtin(3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_said_is_the_class_default, reset),
		cmocka_unit_test_setup(the_tenants_class_counts_before_the_models, reset),
		cmocka_unit_test_setup(a_clients_word_counts_only_where_the_policy_believes_it,
		                       reset),
		cmocka_unit_test_setup(a_client_may_say_a_number_and_keeps_its_class, reset),
		cmocka_unit_test_setup(a_step_of_priority_is_worth_a_second_of_waiting, reset),
		cmocka_unit_test_setup(strict_classes_are_haproxys_own, reset),
		cmocka_unit_test_setup(an_offset_stays_within_what_haproxy_remembers, reset),
		cmocka_unit_test_setup(
		        each_objective_is_the_clients_then_the_classes_then_the_policys, reset),
		cmocka_unit_test_setup(a_decision_has_the_place_of_its_models_class, reset),
		cmocka_unit_test_setup(who_had_much_lately_waits_longer_where_that_is_the_strategy,
		                       reset),
		cmocka_unit_test_setup(the_policys_own_class_takes_the_place_of_the_built_in_one,
		                       reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
