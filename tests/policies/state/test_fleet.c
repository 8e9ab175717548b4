/* test_fleet.c - snapshots of HAProxy become instances and replicas.
 * Proves R100, P114, P115. */
#include "tests/failing_calloc.h"
#include "tests/policies/state/listed.h"

static void servers_are_replicas_of_their_backend(void **state)
{
	const struct server_fact facts[] = {
		server("a", "s1", "10.0.0.1:8000"), server("b", "s1", "[fd00::2]:8000"),
		server("a", "s2", "10.0.0.1:8001"), /* another port is another engine */
	};
	struct fleet_change change = apply(*state, 0, facts, 3);
	const struct instance *a;

	assert_true(change.any);
	assert_int_equal(change.instances_added, 2);
	assert_int_equal(change.replicas_added, 3);
	assert_int_equal(fleet_instance_count(*state), 2);
	a = fleet_instance_at(*state, 0);
	assert_string_equal(a->name, "a");
	assert_string_equal(a->target->label, "a");
	assert_int_equal(a->target->kind, TARGET_INSTANCE);
	assert_int_equal(a->replica_count, 2);
	assert_string_equal(a->replicas[0].target->label, "10.0.0.1:8000");
	assert_string_equal(a->replicas[1].target->label, "10.0.0.1:8001");
	assert_int_equal(a->replicas[0].target->kind, TARGET_REPLICA);
	assert_int_equal(a->replicas[0].target->since, 5 * SECOND);
	assert_true(a->replicas[0].usable && a->replicas[0].up);
	assert_true(a->replicas[0].weight == 1);
	assert_ptr_equal(replica(*state, "a", "s2"), &a->replicas[1]);
	assert_ptr_equal(fleet_replica_at_address(*state, a, SPAN("10.0.0.1:8001")),
	                 &a->replicas[1]);
	assert_null(fleet_replica_at_address(*state, a, SPAN("[fd00::2]:8000")));
	assert_null(fleet_replica_at_address(*state, a, SPAN("10.0.0.9:8001")));
	assert_null(replica(*state, "a", "s3"));
	assert_null(instance(*state, "c"));
	assert_string_equal(fleet_replica_name(replica(*state, "b", "s1"), 0), "s1");
	assert_string_equal(fleet_replica_name(replica(*state, "b", "s1"), 1), "");
	assert_string_equal(fleet_replica_name(replica(*state, "b", "s1"), 9), "");
	assert_null(fleet_replica_named(*state, a, 9, SPAN("s1")));
	assert_null(fleet_target(*state, 99));
	assert_int_equal(fleet_targets_max(*state), 12);
}

static void the_same_snapshot_changes_nothing(void **state)
{
	const struct server_fact facts[] = { server("a", "s1", "10.0.0.1:8000") };

	assert_true(apply(*state, 0, facts, 1).any);
	assert_false(apply(*state, 0, facts, 1).any);
}

static void of_two_servers_with_one_address_the_first_counts(void **state)
{
	struct server_fact facts[] = { server("a", "s1", "10.0.0.1:8000"),
		                       server("a", "s2", "10.0.0.1:8000") };

	facts[1].up = false;
	(void)apply(*state, 0, facts, 2);
	assert_int_equal(instance(*state, "a")->replica_count, 1);
	assert_string_equal(fleet_replica_name(&instance(*state, "a")->replicas[0], 0), "s1");
	assert_true(instance(*state, "a")->replicas[0].up);
	assert_false(apply(*state, 0, facts, 2).any); /* and nothing goes to and fro */
}

static void free_slots_are_no_replicas_but_their_backend_exists(void **state)
{
	const char *const none[] = { "127.0.0.1:1",   "[::1]:1",    "10.0.0.1:0",
		                     "-:8000",        "",           "10.0.0.1",
		                     ":8000",         "0.0.0.0:80", "[::]:80",
		                     "10.0.0.1:http", "10.0.0.1:",  "10.0.0.1:65536" };
	enum { NONE = sizeof(none) / sizeof(none[0]) };
	struct server_fact facts[NONE];
	struct fleet_change change;

	for (size_t i = 0; i < NONE; i++)
		facts[i] = server("a", "s", none[i]);
	change = apply(*state, 0, facts, NONE);
	assert_int_equal(change.instances_added, 1);
	assert_int_equal(change.refused, 0);
	assert_non_null(instance(*state, "a"));
	assert_int_equal(instance(*state, "a")->replica_count, 0);
}

static void who_is_drained_in_maintenance_or_without_weight_is_not_usable(void **state)
{
	struct server_fact facts[] = { server("a", "s1", "10.0.0.1:1"),
		                       server("a", "s2", "10.0.0.2:1"),
		                       server("a", "s3", "10.0.0.3:1"),
		                       server("a", "s4", "10.0.0.4:1") };
	struct fleet_change change;

	facts[0].maintenance = true;
	facts[1].draining = true;
	facts[2].weight = 0;
	facts[3].up = false;
	facts[3].weight = 7;
	facts[3].max_running = 12;
	(void)apply(*state, 0, facts, 4);
	assert_false(replica(*state, "a", "s1")->usable);
	assert_false(replica(*state, "a", "s2")->usable);
	assert_false(replica(*state, "a", "s3")->usable);
	assert_true(replica(*state, "a", "s4")->usable);
	assert_false(replica(*state, "a", "s4")->up);
	assert_true(replica(*state, "a", "s4")->weight == 7);
	assert_int_equal(replica(*state, "a", "s4")->max_running, 12);
	facts[0].maintenance = false;
	facts[1].draining = false;
	facts[2].weight = 0.5;
	facts[3].up = true;
	change = apply(*state, 0, facts, 4);
	assert_int_equal(change.states_changed, 4);
	assert_true(change.any);
	for (size_t i = 0; i < 4; i++)
		assert_true(instance(*state, "a")->replicas[i].usable &&
		            instance(*state, "a")->replicas[i].up);
	facts[3].max_running = 13;
	assert_int_equal(apply(*state, 0, facts, 4).states_changed, 1);
}

static void a_slot_with_another_address_is_another_target(void **state)
{
	struct server_fact facts[] = { server("a", "SRV_1", "10.0.0.1:8000"),
		                       server("a", "SRV_2", "10.0.0.2:8000") };
	struct fleet_change change;
	uint32_t first;
	uint32_t second;

	(void)apply(*state, 0, facts, 2);
	first = id_at(*state, "10.0.0.1:8000");
	second = id_at(*state, "10.0.0.2:8000");
	facts[1] = server("a", "SRV_2", "10.0.0.3:8000");
	change = apply(*state, 0, facts, 2);
	assert_int_equal(change.replicas_moved, 1);
	assert_int_equal(change.replicas_added, 1);
	assert_int_equal(change.replicas_gone, 1);
	assert_int_equal(gone_count, 1);
	assert_int_equal(gone[0], second);
	assert_int_equal(id_at(*state, "10.0.0.1:8000"), first);
	assert_int_equal(id_at(*state, "10.0.0.2:8000"), TARGET_NONE);
	assert_string_equal(replica(*state, "a", "SRV_2")->target->label, "10.0.0.3:8000");
}

static void slots_that_change_places_keep_their_targets(void **state)
{
	struct server_fact facts[] = { server("a", "SRV_1", "10.0.0.1:8000"),
		                       server("a", "SRV_2", "10.0.0.2:8000") };
	uint32_t first;
	struct fleet_change change;

	(void)apply(*state, 0, facts, 2);
	first = id_at(*state, "10.0.0.1:8000");
	facts[0].server = SPAN("SRV_2");
	facts[1].server = SPAN("SRV_1");
	change = apply(*state, 0, facts, 2);
	assert_true(change.any);
	assert_int_equal(change.replicas_moved, 2);
	assert_int_equal(change.replicas_gone + change.replicas_added, 0);
	assert_int_equal(id_at(*state, "10.0.0.1:8000"), first);
	assert_int_equal(replica(*state, "a", "SRV_2")->target->id, first);
}

static void a_skipped_backend_is_no_instance(void **state)
{
	const struct server_fact facts[] = { server("a", "s1", "10.0.0.1:8000"),
		                             server("infer-agents", "agent", "127.0.0.1:9000") };

	(void)apply(*state, 0, facts, 2);
	assert_int_equal(fleet_instance_count(*state), 2);
	assert_true(fleet_skip(*state, SPAN("infer-agents")));
	(void)apply(*state, 0, facts, 2);
	assert_int_equal(fleet_instance_count(*state), 1);
	assert_null(instance(*state, "infer-agents"));
	for (int i = 0; i < 15; i++)
		assert_true(fleet_skip(*state, SPAN("x")));
	assert_false(fleet_skip(*state, SPAN("x")));
}

static void only_backends_that_are_kept_are_instances(void **state)
{
	const struct server_fact facts[] = { server("ai_svc_a_80", "s", "10.0.0.1:8000"),
		                             server("ai_svc_b_80", "s", "10.0.0.2:8000"),
		                             server("shop", "s", "10.0.0.3:80"),
		                             server("ai_svc", "s", "10.0.0.4:80") };

	(void)apply(*state, 0, facts, 4);
	assert_int_equal(fleet_instance_count(*state), 4);
	assert_true(fleet_keep(*state, SPAN("shop")));
	(void)apply(*state, 0, facts, 4);
	assert_int_equal(fleet_instance_count(*state), 1);
	assert_non_null(instance(*state, "shop"));
	assert_true(fleet_keep(*state, SPAN("ai_svc_*")));
	(void)apply(*state, 0, facts, 4);
	assert_int_equal(fleet_instance_count(*state), 3);
	assert_null(instance(*state, "ai_svc"));
	assert_true(fleet_skip(*state, SPAN("ai_svc_a_80")));
	(void)apply(*state, 0, facts, 4);
	assert_int_equal(fleet_instance_count(*state), 2);
	assert_false(fleet_keep(*state, SPAN("")));
	for (int i = 0; i < 62; i++)
		assert_true(fleet_keep(*state, SPAN("x")));
	assert_false(fleet_keep(*state, SPAN("x")));
}

static void what_is_too_much_is_refused_and_counted(void **state)
{
	static char names[10][8];
	static char addresses[10][24];
	struct server_fact facts[10];
	char long_name[NAME_MAX_BYTES + 1];

	for (int i = 0; i < 10; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "s%d", i);
		(void)snprintf(addresses[i], sizeof(addresses[i]), "10.0.0.%d:80", i + 1);
		facts[i] = server("a", names[i], addresses[i]);
	}
	assert_int_equal(apply(*state, 0, facts, 10).refused, 2);
	assert_int_equal(instance(*state, "a")->replica_count, 8);
	for (int i = 0; i < 10; i++)
		facts[i] = server(names[i], "s", "10.0.0.1:80");
	assert_int_equal(apply(*state, 0, facts, 10).refused, 6);
	assert_int_equal(fleet_instance_count(*state), 4);
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[NAME_MAX_BYTES] = '\0';
	facts[0] = server(long_name, "s", "10.0.0.1:80");
	facts[1] = server("a", long_name, "10.0.0.1:80");
	assert_int_equal(apply(*state, 0, facts, 2).refused, 2);
	assert_false(fleet_skip(*state, SPAN(long_name)));
}

static void a_fleet_may_be_replaced_as_a_whole(void **state)
{
	static char addresses[8][24];
	struct server_fact facts[4];

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 4; i++) {
			(void)snprintf(addresses[i], sizeof(addresses[i]), "10.0.%d.%d:80", round,
			               i + 1);
			facts[i] = server("a", addresses[i], addresses[i]);
		}
		gone_count = 0;
		assert_int_equal(apply(*state, 0, facts, 4).refused, 0);
		assert_int_equal(gone_count, round == 0 ? 0 : 4);
		assert_int_equal(instance(*state, "a")->replica_count, 4);
	}
}

/* Property: what is seen is what was listed, whatever was there before. */
static void random_snapshots_leave_no_trace_of_earlier_ones(void **state)
{
	static char names[12][8];
	static char addresses[12][24];
	const char *const backends[] = { "a", "b", "c" };
	struct server_fact facts[8];
	struct rng rng = { 5 };

	for (int i = 0; i < 12; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "s%d", i);
		(void)snprintf(addresses[i], sizeof(addresses[i]), "10.0.0.%d:80", i + 1);
	}
	for (int round = 0; round < 3000; round++) {
		size_t count = rng_next(&rng) % 6;
		size_t seen = 0;

		for (size_t i = 0; i < count; i++) /* an address only once */
			facts[i] = server(backends[rng_next(&rng) % 3], names[rng_next(&rng) % 12],
			                  addresses[2 * i + rng_next(&rng) % 2]);
		gone_count = 0;
		(void)apply(*state, 0, facts, count);
		for (size_t i = 0; i < fleet_instance_count(*state); i++)
			seen += fleet_instance_at(*state, i)->replica_count;
		assert_int_equal(seen, count);
		for (size_t i = 0; i < count; i++) {
			const struct instance *of = fleet_instance_named(*state, facts[i].backend);
			const struct replica *found;

			assert_non_null(of);
			found = fleet_replica_at_address(*state, of, facts[i].address);
			assert_non_null(found);
			assert_int_equal(
			        strncmp(found->name[0], facts[i].server.at, facts[i].server.len),
			        0);
		}
	}
}

static void without_memory_there_is_no_fleet_and_no_leak(void **state)
{
	struct fleet *fleet = NULL;
	int allocations = 0;

	(void)state;
	for (int i = 1; !fleet; i++, allocations++) {
		failing = i;
		fleet = fleet_new(&limits);
	}
	failing = 0;
	assert_true(allocations > 20);
	fleet_free(fleet);
	fleet_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fleet, close_fleet)

int main(void)
{
	const struct CMUnitTest fleet[] = {
		TEST(servers_are_replicas_of_their_backend),
		TEST(the_same_snapshot_changes_nothing),
		TEST(of_two_servers_with_one_address_the_first_counts),
		TEST(free_slots_are_no_replicas_but_their_backend_exists),
		TEST(who_is_drained_in_maintenance_or_without_weight_is_not_usable),
		TEST(a_slot_with_another_address_is_another_target),
		TEST(slots_that_change_places_keep_their_targets),
		TEST(a_skipped_backend_is_no_instance),
		TEST(only_backends_that_are_kept_are_instances),
		TEST(what_is_too_much_is_refused_and_counted),
		TEST(a_fleet_may_be_replaced_as_a_whole),
		TEST(random_snapshots_leave_no_trace_of_earlier_ones),
		TEST(without_memory_there_is_no_fleet_and_no_leak),
	};

	return cmocka_run_group_tests(fleet, NULL, NULL);
}
