/* test_missed_model.c - 404 for a model that is promised: missing on that replica until it lists
 * it again. Proves R019, R069. */
#include "tests/policies/sent.h"

static void lists(struct world *world, const char *server, const char *model)
{
	struct span span = SPAN(model);

	(void)fleet_models(world->facts->fleet, world_replica(world, "a", server)->target->id,
	                   &span, NULL, 1);
}

/* All of a list m, b's list nothing. */
static struct world *listing(void **state)
{
	struct world *world = *state;

	lists(world, "s1", "m");
	lists(world, "s2", "m");
	lists(world, "s3", "m");
	world_strategy(world, "random");
	world_entry(world)->gate_gap = 1e6;
	return world;
}

static struct request ask_for(struct world *world, const char *model)
{
	struct request request = world_ask(world);

	request.model = SPAN(model);
	return request;
}

static bool serves(struct world *world, const char *server)
{
	return fleet_replica_serves(world->facts->fleet, world_instance(world, "a"),
	                            world_replica(world, "a", server),
	                            fleet_model_id(world->facts->fleet, SPAN("m")));
}

/* To whom chance sends it; the answer. */
static struct feedback not_found(struct world *world, const char *model, uint32_t *ret_target)
{
	struct sent sent = send_to(world, ask_for(world, model));

	*ret_target = sent.chosen;
	return ends(&sent, "----", 404);
}

static const char *name_of(struct world *world, uint32_t target)
{
	return fleet_replica_of_target(world->facts->fleet, world_instance(world, "a"), target)
	        ->name[0];
}

static void nothing_of_it_is_sent_there_until_it_lists_it_again(void **state)
{
	struct world *world = listing(state);
	struct feedback feedback;
	uint32_t missing;

	feedback = not_found(world, "m", &missing);
	assert_true(feedback.missed);
	assert_false(serves(world, name_of(world, missing)));
	for (int i = 0; i < 100; i++) {
		struct sent sent = send_to(world, ask_for(world, "m"));

		assert_int_not_equal(sent.chosen, missing);
		(void)ends(&sent, "----", 200);
	}
	lists(world, name_of(world, missing), "m");
	assert_true(serves(world, name_of(world, missing)));
	assert_int_equal(health_state(world->facts->health, missing, world->now), HEALTH_UP);
}

static void the_list_decides(void **state)
{
	struct world *world = listing(state);
	uint32_t missing;

	(void)not_found(world, "m", &missing);
	lists(world, name_of(world, missing), "other");
	assert_false(serves(world, name_of(world, missing)));
	lists(world, name_of(world, missing), "m");
	assert_true(serves(world, name_of(world, missing)));
}

/* As with a wrong path, which all of them answer so. */
static void the_last_one_stays(void **state)
{
	struct world *world = listing(state);
	uint32_t target;
	int left = 0;

	for (int i = 0; i < 50; i++)
		assert_true(not_found(world, "m", &target).missed);
	for (int i = 1; i <= 3; i++)
		left += serves(world, (const char *[]){ "s1", "s2", "s3" }[i - 1]);
	assert_int_equal(left, 1);
}

static void nothing_is_missed_that_nobody_promised(void **state)
{
	struct world *world = *state;
	uint32_t target;
	struct sent sent;

	world_strategy(world, "random");
	assert_false(not_found(world, "m", &target).missed); /* no list is known */
	lists(world, "s1", "m");
	lists(world, "s2", "m");
	lists(world, "s3", "m");
	assert_false(not_found(world, "", &target).missed); /* no model was named */
	sent = send_to(world, ask_for(world, "m"));
	assert_false(ends(&sent, "----", 400).missed);
	sent = send_to(world, ask_for(world, "m"));
	assert_false(ends(&sent, "CH--", 404).missed);
	assert_true(serves(world, "s1") && serves(world, "s2") && serves(world, "s3"));
}

/* The policy promises m of a, whose engines list it as u. */
static void a_promise_of_the_policy_goes_missing_too(void **state)
{
	static char models[1][NAME_MAX_BYTES] = { "m" };
	struct world *world = *state;
	struct instance_policy instance = world->policy.default_instance;
	uint32_t missing;
	const char *name;

	strcpy(instance.name, "a");
	strcpy(instance.upstream_model, "u");
	instance.models = models;
	instance.model_count = 1;
	world->policy.instances = &instance;
	world->policy.instance_count = 1;
	facts_set_policy(world->facts, &world->policy);
	lists(world, "s1", "u");
	lists(world, "s2", "u");
	lists(world, "s3", "u");
	assert_true(not_found(world, "m", &missing).missed);
	name = name_of(world, missing);
	assert_false(serves(world, name));
	lists(world, name, "w");
	assert_false(serves(world, name));
	lists(world, name, "u");
	assert_true(serves(world, name));
	assert_true(not_found(world, "m", &missing).missed);
	lists(world, name_of(world, missing), "m");
	assert_true(serves(world, name_of(world, missing)));
	world->policy.instance_count = 0;
	facts_set_policy(world->facts, &world->policy);
}

static void another_engine_at_that_place_is_not_blamed(void **state)
{
	struct world *world = listing(state);
	uint32_t missing;
	struct server_fact *server;
	const char *name;

	(void)not_found(world, "m", &missing);
	name = name_of(world, missing);
	server = world_server(world, "a", name);
	server->address = SPAN("10.9.9.9:8000");
	world_apply(world);
	assert_true(serves(world, name)); /* nothing is known of it */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_of_it_is_sent_there_until_it_lists_it_again),
		TEST(the_list_decides),
		TEST(the_last_one_stays),
		TEST(nothing_is_missed_that_nobody_promised),
		TEST(a_promise_of_the_policy_goes_missing_too),
		TEST(another_engine_at_that_place_is_not_blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
