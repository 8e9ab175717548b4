/* test_server_weight.c - a server's name becomes its weight. Proves B002, B040, each as
 * far as the agent decides it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/server_weight.h"
#include "tests/spoa/observe/world.h"

static const char *const addresses[] = { "10.0.0.1:80", "10.0.0.2:80" };

static struct world world;
static struct server_weights *weights;
static enum server_answer how;

static int open_all(void **state)
{
	(void)state;
	world_open(&world);
	world_servers(&world, addresses, 2);
	weights = server_weights_new(fleet_targets_max(world.facts->fleet));
	return weights ? 0 : -1;
}

static int close_all(void **state)
{
	(void)state;
	server_weights_free(weights);
	world_close(&world);
	return 0;
}

static const char *asked(const char *line)
{
	static char text[SERVER_WEIGHT_ANSWER_MAX + 1];
	char answer[SERVER_WEIGHT_ANSWER_MAX];
	size_t length = 0;

	how = server_weight_answer(weights, world.facts, span_of(line), world_now(), answer,
	                           &length);
	assert_in_range(length, 1, sizeof(answer));
	assert_int_equal(answer[length - 1], '\n');
	memcpy(text, answer, length - 1);
	text[length - 1] = '\0';
	return text;
}

/* The engine worked through so many tokens in ten seconds. */
static void learn_capacity(size_t server, double tokens)
{
	struct engine_page page = engine_page_blank(world_clock);
	struct growth growth;
	uint32_t target = world_target(&world, addresses[server]);

	page.running = 4;
	page.generation_tokens = 0;
	(void)rates_learn(world.facts->rates, target, &page, &growth);
	page.at += 10 * SECOND;
	page.generation_tokens = tokens;
	assert_true(rates_learn(world.facts->rates, target, &page, &growth));
}

static void a_server_is_named_by_backend_and_name_or_by_address(void **state)
{
	(void)state;
	assert_string_equal(asked("svc/s1"), "up 100%");
	assert_int_equal(how, SERVER_ANSWERED);
	assert_string_equal(asked("10.0.0.2:80"), "up 100%");
	assert_int_equal(server_weight_said(weights, world_target(&world, addresses[1])), 100);
}

static void nobody_gets_an_empty_line_which_changes_nothing(void **state)
{
	static const char *const lines[] = {
		"",       "/",    "svc",         "svc/",      "/s1",
		"svc/s3", "x/s1", "10.0.0.3:80", "svc/s1/s1", "svc/s1 "
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_string_equal(asked(lines[i]), "");
		assert_int_equal(how, SERVER_UNKNOWN);
	}
}

static void weights_follow_the_capacity_once_it_is_known_of_all(void **state)
{
	(void)state;
	learn_capacity(0, 20000);
	assert_string_equal(asked("svc/s2"), "up 100%");
	learn_capacity(1, 10000);
	assert_string_equal(asked("svc/s1"), "up 100%");
	assert_string_equal(asked("svc/s2"), "up 50%");
}

static void less_than_ten_points_move_nothing(void **state)
{
	(void)state;
	learn_capacity(0, 20000);
	learn_capacity(1, 18200);
	assert_string_equal(asked("svc/s2"), "up 91%");
	world_clock += SECOND;
	learn_capacity(0, 21000); /* 18200 of 20xxx: some points less */
	assert_string_equal(asked("svc/s2"), "up 91%");
}

static void one_percent_while_out_of_service_and_never_nothing(void **state)
{
	uint32_t target = world_target(&world, addresses[0]);

	(void)state;
	assert_string_equal(asked("svc/s1"), "up 100%");
	health_eject(world.facts->health, target, world_now());
	assert_string_equal(asked("svc/s1"), "up 1%");
	assert_string_equal(asked("svc/s2"), "up 100%");
	health_forget(world.facts->health, target);
	assert_string_equal(asked("svc/s1"), "up 100%");
}

static void a_newcomer_comes_to_its_weight_slowly(void **state)
{
	uint32_t target = world_target(&world, addresses[0]);

	(void)state;
	health_welcome(world.facts->health, target, world_now());
	assert_string_equal(asked("svc/s1"), "up 1%");
	world_clock += world.policy.health.ramp / 2;
	assert_string_equal(asked("svc/s1"), "up 50%");
	world_clock += world.policy.health.ramp;
	assert_string_equal(asked("svc/s1"), "up 100%");
}

static void maxconn_is_the_engines_batch_or_the_policys_slots(void **state)
{
	struct replica_policy replica = { .name = "s1", .weight = 1, .slots = 48 };
	struct instance_policy instance = world.policy.default_instance;
	struct engine_page page = engine_page_blank(world_clock);

	(void)state;
	page.max_sequences = 112;
	engines_put(world.facts->engines, world_target(&world, addresses[0]), &page);
	assert_string_equal(asked("svc/s1"), "up 100% maxconn:112");
	assert_string_equal(asked("svc/s2"), "up 100%");
	(void)strcpy(instance.name, "svc");
	instance.replicas = &replica;
	instance.replica_count = 1;
	world.policy.instances = &instance;
	world.policy.instance_count = 1;
	fleet_bind(world.facts->fleet, &world.policy);
	assert_string_equal(asked("svc/s1"), "up 100% maxconn:48");
}

static void two_haproxys_share_the_batch(void **state)
{
	struct server_fact servers[] = { { .backend = span_of("svc"),
		                           .server = span_of("other"),
		                           .address = span_of(addresses[0]),
		                           .weight = 100,
		                           .up = true } };
	struct engine_page page = engine_page_blank(world_clock);

	(void)state;
	(void)fleet_apply(world.facts->fleet, 1, servers, 1, world_now(), facts_forget,
	                  world.facts);
	page.max_sequences = 112;
	engines_put(world.facts->engines, world_target(&world, addresses[0]), &page);
	assert_string_equal(asked("svc/s1"), "up 100% maxconn:56");
	assert_string_equal(asked("svc/other"), "up 100% maxconn:56");
}

static void who_the_policy_drains_is_drained_and_made_ready_again(void **state)
{
	struct replica_policy replica = { .name = "s1", .weight = 0 };
	struct instance_policy instance = world.policy.default_instance;

	(void)state;
	(void)strcpy(instance.name, "svc");
	instance.replicas = &replica;
	instance.replica_count = 1;
	world.policy.instances = &instance;
	world.policy.instance_count = 1;
	fleet_bind(world.facts->fleet, &world.policy);
	assert_string_equal(asked("svc/s1"), "drain");
	assert_int_equal(how, SERVER_DRAINED);
	assert_int_equal(server_weight_said(weights, world_target(&world, addresses[0])), 0);
	assert_string_equal(asked("svc/s2"), "up 100%");
	replica.weight = 0.5;
	fleet_bind(world.facts->fleet, &world.policy);
	assert_string_equal(asked("svc/s1"), "up ready 50%");
	assert_string_equal(asked("svc/s1"), "up ready 50%"); /* another HAProxy */
	world_clock += 31 * SECOND;
	assert_string_equal(asked("svc/s1"), "up 50%");
}

static void who_an_operator_drains_is_drained_and_made_ready_again(void **state)
{
	uint32_t target = world_target(&world, addresses[0]);

	(void)state;
	fleet_hold(world.facts->fleet, target, true);
	assert_string_equal(asked("svc/s1"), "drain");
	assert_string_equal(asked("svc/s2"), "up 100%");
	fleet_hold(world.facts->fleet, target, false);
	assert_string_equal(asked("svc/s1"), "up ready 100%");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
	const struct CMUnitTest tests[] = {
		TEST(a_server_is_named_by_backend_and_name_or_by_address),
		TEST(nobody_gets_an_empty_line_which_changes_nothing),
		TEST(weights_follow_the_capacity_once_it_is_known_of_all),
		TEST(less_than_ten_points_move_nothing),
		TEST(one_percent_while_out_of_service_and_never_nothing),
		TEST(a_newcomer_comes_to_its_weight_slowly),
		TEST(maxconn_is_the_engines_batch_or_the_policys_slots),
		TEST(two_haproxys_share_the_batch),
		TEST(who_an_operator_drains_is_drained_and_made_ready_again),
		TEST(who_the_policy_drains_is_drained_and_made_ready_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
