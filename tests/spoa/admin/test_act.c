/* test_act.c - what an operator may do to a running agent, and who else may not. Proves R013,
 * R068. */
#include "tests/spoa/admin/admin_world.h"

#include <jansson.h>
#include <unistd.h>

#include "spoa/admin/act.h"
#include "spoa/admin/admin_parts.h"
#include "spoa/web/listen.h"

static struct world *world;
static struct admin admin;
static struct admin_context context;
static struct web_answer answer;
static bool reload_works;

static usec_t now(void)
{
	return world->now;
}

static int64_t wall(void)
{
	return wall_ms;
}

static bool reload(void *data)
{
	(void)data;
	return reload_works;
}

static int start(void **state)
{
	(void)state;
	world = world_new(2, 3);
	context = (struct admin_context){ .facts = world->facts,
		                          .fill = fill_agent,
		                          .reload = reload,
		                          .now = now,
		                          .wall_ms = wall };
	admin = (struct admin){ .context = &context };
	return 0;
}

static int stop(void **state)
{
	(void)state;
	free(answer.body);
	answer = (struct web_answer){ 0 };
	world_free(world);
	return 0;
}

static unsigned ask(const char *method, const char *path, enum web_peer peer, uid_t uid,
                    const char *target, const char *what)
{
	struct web_request request = {
		.method = method, .path = path, .accept = "", .peer = peer, .uid = uid
	};

	if (target)
		request.arguments[request.argument_count++] =
		        (struct web_argument){ "target", target };
	if (what)
		request.arguments[request.argument_count++] = (struct web_argument){ "what", what };
	free(answer.body);
	answer = (struct web_answer){ 0 };
	routes_answer(&admin, &request, &answer);
	return answer.status;
}

/* As root, over the socket. */
static unsigned act(const char *verb, const char *target, const char *what)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/api/v1/act/%s", verb);
	return ask("POST", path, WEB_PEER_UNIX, 0, target, what);
}

static bool usable(const char *server)
{
	return world_replica(world, "a", server)->usable;
}

static void a_drained_replica_gets_no_new_request_until_it_is_enabled(void **state)
{
	(void)state;
	world_busy(world, "a", "s1", 2);
	assert_int_equal(act("drain", "a/s1", NULL), 200);
	assert_string_equal(answer.body, "{\"target\":\"10.0.0.1:8000\",\"drained\":true,"
	                                 "\"health\":\"up\",\"running\":2.0}");
	assert_false(usable("s1"));
	world_apply(world); /* HAProxy's word does not change it */
	assert_false(usable("s1"));
	facts_set_policy(world->facts, &world->policy);
	assert_false(usable("s1"));
	for (int i = 0; i < 30; i++) {
		struct request request = world_ask(world);
		struct decision decision;

		request.backend = SPAN("a");
		decision = world_decide(world, request);
		assert_string_not_equal(server_of(&decision), "s1");
	}
	assert_int_equal(act("enable", "10.0.0.1:8000", NULL), 200);
	assert_true(usable("s1"));
}

/* Its address is another engine's now. */
static void another_engine_is_not_held(void **state)
{
	(void)state;
	assert_int_equal(act("drain", "a/s1", NULL), 200);
	world_server(world, "a", "s1")->address = SPAN("10.9.9.9:8000");
	world_apply(world);
	assert_true(usable("s1"));
}

static void a_drained_instance_takes_nothing_while_another_is_there(void **state)
{
	(void)state;
	assert_int_equal(act("drain", "a", NULL), 200);
	for (int i = 0; i < 30; i++) {
		struct decision decision = world_decide(world, world_ask(world));

		assert_string_equal(decision.instance->name, "b");
	}
	assert_int_equal(act("drain", "b", NULL), 200);
	assert_int_equal(world_decide(world, world_ask(world)).outcome, OUTCOME_ROUTED);
	assert_int_equal(act("enable", "a", NULL), 200);
	assert_string_equal(world_decide(world, world_ask(world)).instance->name, "a");
}

static void who_is_ejected_by_hand_is_out_and_comes_back_by_hand(void **state)
{
	uint32_t id = world_replica(world, "a", "s2")->target->id;

	(void)state;
	assert_int_equal(act("eject", "a/s2", NULL), 200);
	assert_int_equal(health_state(world->facts->health, id, world->now), HEALTH_EJECTED);
	assert_non_null(strstr(answer.body, "\"health\":\"ejected\""));
	assert_int_equal(act("enable", "a", NULL), 200); /* with the instance it is in */
	assert_int_equal(health_state(world->facts->health, id, world->now), HEALTH_UP);
	assert_true(health_takes(world->facts->health, id, world->now));
	assert_false(health_any_out(world->facts->health, world->now));
	assert_int_equal(act("eject", "a", NULL), 400);
}

static void what_is_believed_can_be_forgotten(void **state)
{
	const uint64_t chain[] = { 1, 2, 3, 4 };
	uint32_t s1 = world_replica(world, "a", "s1")->target->id;
	uint32_t s2 = world_replica(world, "a", "s2")->target->id;
	struct pin pin;
	double value;

	(void)state;
	prefix_index_confirm(world->facts->prefix, s1, chain, 4, &world->policy.ladder, world->now);
	prefix_index_confirm(world->facts->prefix, s2, chain, 4, &world->policy.ladder, world->now);
	average_add(&averages_of(world->facts->averages, s1)->ttft_ms, 9, SECOND, world->now);
	assert_int_equal(act("flush", "a/s1", "prefix"), 200);
	assert_int_equal(prefix_index_held(world->facts->prefix, s1), 0);
	assert_int_equal(prefix_index_held(world->facts->prefix, s2), 4);
	assert_true(average_plain(&averages_of(world->facts->averages, s1)->ttft_ms, world->now,
	                          &value));
	assert_int_equal(act("flush", "a", "prefix"), 200);
	assert_int_equal(prefix_index_held(world->facts->prefix, s2), 0);
	assert_int_equal(act("flush", "a/s1", "averages"), 200);
	assert_false(average_plain(&averages_of(world->facts->averages, s1)->ttft_ms, world->now,
	                           &value));
	pins_put(world->facts->sessions, pin_key_of(SPAN("one"), 0), s1, world->now);
	pins_put(world->facts->sessions, pin_key_of(SPAN("two"), 0), s2, world->now);
	assert_int_equal(act("flush", "a/s1", "sessions"), 200);
	assert_false(
	        pins_find(world->facts->sessions, pin_key_of(SPAN("one"), 0), world->now, &pin));
	assert_true(
	        pins_find(world->facts->sessions, pin_key_of(SPAN("two"), 0), world->now, &pin));
	assert_int_equal(act("flush", "a", "sessions"), 200);
	assert_false(
	        pins_find(world->facts->sessions, pin_key_of(SPAN("two"), 0), world->now, &pin));
	assert_int_equal(act("flush", "a/s1", "all"), 400);
	assert_int_equal(act("flush", "a/s1", NULL), 400);
}

static void a_reload_says_whether_the_policy_is_in_force(void **state)
{
	(void)state;
	reload_works = true;
	assert_int_equal(act("reload", NULL, NULL), 200);
	reload_works = false;
	assert_int_equal(act("reload", NULL, NULL), 422);
	context.reload = NULL;
	assert_int_equal(act("reload", NULL, NULL), 422);
}

static void nobody_else_may(void **state)
{
	const char path[] = "/api/v1/act/drain";

	(void)state;
	assert_int_equal(ask("POST", path, WEB_PEER_UNIX, geteuid(), "a/s1", NULL), 200);
	assert_int_equal(ask("POST", path, WEB_PEER_UNIX, geteuid() + 1, "a/s2", NULL), 403);
	assert_int_equal(ask("POST", path, WEB_PEER_LOOPBACK, 0, "a/s2", NULL), 403);
	assert_int_equal(ask("POST", path, WEB_PEER_OTHER, 0, "a/s2", NULL), 403);
	assert_int_equal(ask("GET", path, WEB_PEER_UNIX, 0, "a/s2", NULL), 405);
	assert_true(usable("s2"));
	assert_int_equal(act("paint", "a/s2", NULL), 404);
	assert_int_equal(act("drain", "a/s9", NULL), 404);
	assert_int_equal(act("drain", "z/s1", NULL), 404);
	assert_int_equal(act("drain", NULL, NULL), 404);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

/* HAProxy's server is one; its ranks may be meant one by one. */
static void what_is_done_to_a_server_is_done_to_its_ranks(void **state)
{
	static struct replica_policy ranked = { .name = "s1", .weight = 1, .ranks = 3 };
	struct instance_policy a = world->policy.default_instance;
	const char *const labels[] = { "10.0.0.1:8000#0", "10.0.0.1:8000#1", "10.0.0.1:8000#2" };

	(void)state;
	memcpy(a.name, "a", 2);
	a.replicas = &ranked;
	a.replica_count = 1;
	world->policy.instances = &a;
	world->policy.instance_count = 1;
	facts_set_policy(world->facts, &world->policy);
	world_apply(world);
	assert_int_equal(act("drain", "a/s1", NULL), 200);
	for (size_t i = 0; i < 3; i++)
		assert_true(fleet_target_at(world->facts->fleet, SPAN(labels[i]))->held);
	assert_int_equal(act("enable", "10.0.0.1:8000#1", NULL), 200);
	assert_false(fleet_target_at(world->facts->fleet, SPAN(labels[1]))->held);
	assert_true(fleet_target_at(world->facts->fleet, SPAN(labels[0]))->held);
	assert_int_equal(act("enable", "10.0.0.1:8000#0", NULL), 200);
	assert_true(fleet_target_at(world->facts->fleet, SPAN(labels[2]))->held);
	assert_int_equal(act("enable", "10.0.0.1:8000", NULL), 200);
	assert_false(fleet_target_at(world->facts->fleet, SPAN(labels[2]))->held);
	assert_int_equal(act("flush", "a/s1", "dust"), 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_done_to_a_server_is_done_to_its_ranks,
		                                start, stop),
		TEST(a_drained_replica_gets_no_new_request_until_it_is_enabled),
		TEST(another_engine_is_not_held),
		TEST(a_drained_instance_takes_nothing_while_another_is_there),
		TEST(who_is_ejected_by_hand_is_out_and_comes_back_by_hand),
		TEST(what_is_believed_can_be_forgotten),
		TEST(a_reload_says_whether_the_policy_is_in_force),
		TEST(nobody_else_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
