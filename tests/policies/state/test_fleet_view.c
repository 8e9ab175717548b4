/* test_fleet_view.c - what several HAProxies and the policy say of one server.
 * Proves R100 in part, P114. */
#include "tests/policies/state/listed.h"

static void one_address_in_two_backends_is_one_target(void **state)
{
	struct server_fact facts[] = { server("a", "s1", "10.0.0.1:8000"),
		                       server("b", "x", "10.0.0.1:8000") };
	uint32_t id;

	(void)apply(*state, 0, facts, 2);
	id = id_at(*state, "10.0.0.1:8000");
	assert_ptr_equal(replica(*state, "a", "s1")->target, replica(*state, "b", "x")->target);
	assert_ptr_equal(fleet_replica_of_target(*state, instance(*state, "b"), id),
	                 replica(*state, "b", "x"));
	(void)apply(*state, 0, facts, 1);
	assert_int_equal(gone_count, 1); /* the instance b */
	assert_int_equal(id_at(*state, "10.0.0.1:8000"), id);
	assert_null(instance(*state, "b"));
	(void)apply(*state, 0, &facts[1], 1); /* from one backend to the other: it stays itself */
	assert_int_equal(id_at(*state, "10.0.0.1:8000"), id);
	assert_non_null(instance(*state, "b"));
}

static void haproxies_may_call_a_server_by_different_names(void **state)
{
	const struct server_fact first[] = { server("a", "s1", "10.0.0.1:8000") };
	struct server_fact second[] = { server("a", "SRV_7", "10.0.0.1:8000"),
		                        server("a", "s1", "10.0.0.2:8000") };
	const struct replica *both;

	(void)apply(*state, 0, first, 1);
	second[0].up = false;
	second[0].weight = 0.5;
	(void)apply(*state, 1, second, 2);
	both = replica(*state, "a", "s1");
	assert_string_equal(both->target->label, "10.0.0.1:8000");
	assert_string_equal(both->name[0], "s1");
	assert_string_equal(both->name[1], "SRV_7");
	assert_ptr_equal(fleet_replica_named(*state, instance(*state, "a"), 1, SPAN("SRV_7")),
	                 both);
	assert_false(both->up); /* the worst counts */
	assert_true(both->weight == 0.5);
	second[0].up = true;
	(void)apply(*state, 0, second, 2);
	second[0].up = false;
	(void)apply(*state, 0, second, 2);
	second[0].up = true;
	(void)apply(*state, 1, second, 2);
	assert_false(replica(*state, "a", "SRV_7")->up); /* whoever says it */
	(void)apply(*state, 0, first, 1);
	fleet_drop_source(*state, 1, SECOND, on_gone, NULL);
	assert_int_equal(gone_count, 1);
	assert_true(replica(*state, "a", "s1")->up);
	assert_true(replica(*state, "a", "s1")->weight == 1);
	assert_string_equal(replica(*state, "a", "s1")->name[1], "");
	fleet_drop_source(*state, 0, SECOND, on_gone, NULL);
	assert_int_equal(fleet_instance_count(*state), 0);
	assert_int_equal(gone_count, 3);
}

static void limits_of_two_haproxies_add_up(void **state)
{
	struct server_fact facts[] = { server("a", "s1", "10.0.0.1:8000") };

	facts[0].max_running = 10;
	(void)apply(*state, 0, facts, 1);
	(void)apply(*state, 1, facts, 1);
	assert_int_equal(replica(*state, "a", "s1")->max_running, 20);
	facts[0].max_running = 0;
	(void)apply(*state, 1, facts, 1);
	assert_int_equal(replica(*state, "a", "s1")->max_running, 0);
}

static struct instance_policy weighted(const char *name)
{
	struct instance_policy policy = { .weight = 2.5 };

	strcpy(policy.name, name); /* NOLINT: short */
	return policy;
}

static void a_policy_adds_weights_of_its_own(void **state)
{
	struct replica_policy s2 = { .name = "s2", .weight = 3 };
	struct instance_policy a = weighted("a");
	struct policy policy = { .instances = &a, .instance_count = 1 };
	struct server_fact facts[] = { server("a", "s1", "10.0.0.1:80"),
		                       server("a", "s2", "10.0.0.2:80"),
		                       server("b", "s2", "10.0.0.3:80") };

	a.replicas = &s2;
	a.replica_count = 1;
	facts[1].weight = 2;
	(void)apply(*state, 0, facts, 2);
	assert_true(instance(*state, "a")->weight == 1);
	assert_null(instance(*state, "a")->policy);
	fleet_bind(*state, &policy);
	(void)apply(*state, 0, facts, 3);
	assert_ptr_equal(instance(*state, "a")->policy, &a);
	assert_true(instance(*state, "a")->weight == 2.5);
	assert_true(replica(*state, "a", "s1")->weight == 1);
	assert_true(replica(*state, "a", "s2")->weight == 6);
	assert_true(replica(*state, "b", "s2")->weight == 1);
	assert_null(instance(*state, "b")->policy);
	s2.weight = 0;
	fleet_bind(*state, &policy);
	assert_false(replica(*state, "a", "s2")->usable);
	fleet_bind(*state, &(struct policy){ .levels = LEVELS_BOTH });
	assert_true(replica(*state, "a", "s2")->usable);
	assert_null(instance(*state, "a")->policy);
}

static void a_pattern_names_several_and_the_first_that_fits_counts(void **state)
{
	struct replica_policy rows[] = {
		{ .name = "p-7", .weight = 1, .role = ROLE_COMBINED },
		{ .name = "p-*", .weight = 1, .role = ROLE_PREFILL, .roleset = "x" },
		{ .name = "*-d", .weight = 2, .role = ROLE_DECODE, .roleset = "x" },
		{ .name = "10.0.0.9:80", .weight = 1, .role = ROLE_DECODE, .roleset = "y" },
	};
	struct instance_policy a = { .weight = 1, .replicas = rows, .replica_count = 4 };
	struct policy policy = { .instances = &a, .instance_count = 1 };
	struct server_fact facts[] = {
		server("a", "p-1", "10.0.0.1:80"),  server("a", "p-7", "10.0.0.2:80"),
		server("a", "r1-d", "10.0.0.3:80"), server("a", "s9", "10.0.0.9:80"),
		server("a", "-d", "10.0.0.4:80"),   server("a", "d", "10.0.0.5:80"),
		server("b", "p-1", "10.0.0.1:80"),
	};
	static const struct {
		const char *server;
		enum role role;
		uint16_t roleset;
	} expected[] = {
		{ "p-1", ROLE_PREFILL, 2 }, { "p-7", ROLE_COMBINED, 0 }, { "r1-d", ROLE_DECODE, 2 },
		{ "s9", ROLE_DECODE, 4 },   { "-d", ROLE_DECODE, 2 },    { "d", ROLE_COMBINED, 0 },
	};

	strcpy(a.name, "a"); /* NOLINT: short */
	(void)apply(*state, 0, facts, sizeof(facts) / sizeof(facts[0]));
	assert_false(instance(*state, "a")->has_roles);
	fleet_bind(*state, &policy);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct replica *found = replica(*state, "a", expected[i].server);

		assert_int_equal(found->role, expected[i].role);
		assert_int_equal(found->roleset, expected[i].roleset);
	}
	assert_true(replica(*state, "a", "-d")->weight == 2);
	assert_true(instance(*state, "a")->has_roles);
	assert_false(instance(*state, "a")->has_ranges);
	assert_int_equal(replica(*state, "b", "p-1")->role, ROLE_COMBINED);
	assert_false(instance(*state, "b")->has_roles);
}

/* What is the same of all need not be looked for at each of them. */
static void an_instance_tells_how_its_usable_replicas_differ(void **state)
{
	struct server_fact facts[] = { server("a", "s1", "10.0.0.1:8000"),
		                       server("a", "s2", "10.0.0.2:8000"),
		                       server("a", "s3", "10.0.0.3:8000") };

	(void)apply(*state, 0, facts, 3);
	assert_false(instance(*state, "a")->some_down);
	assert_false(instance(*state, "a")->weights_differ);
	assert_false(instance(*state, "a")->models_known);
	facts[1].up = false;
	facts[2].weight = 2;
	(void)apply(*state, 0, facts, 3);
	assert_true(instance(*state, "a")->some_down);
	assert_true(instance(*state, "a")->weights_differ);
	facts[1].draining = facts[2].draining = true;
	(void)apply(*state, 0, facts, 3);
	assert_false(instance(*state, "a")->some_down);
	assert_false(instance(*state, "a")->weights_differ);
	(void)fleet_models(*state, id_at(*state, "10.0.0.3:8000"), &SPAN("m"), NULL, 1);
	assert_true(instance(*state, "a")->models_known);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fleet, close_fleet)

int main(void)
{
	const struct CMUnitTest fleet[] = {
		TEST(one_address_in_two_backends_is_one_target),
		TEST(haproxies_may_call_a_server_by_different_names),
		TEST(limits_of_two_haproxies_add_up),
		TEST(a_policy_adds_weights_of_its_own),
		TEST(a_pattern_names_several_and_the_first_that_fits_counts),
		TEST(an_instance_tells_how_its_usable_replicas_differ),
	};

	return cmocka_run_group_tests(fleet, NULL, NULL);
}
