/* test_fleet_models.c - which instance serves which model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/policy.h"
#include "policies/state/fleet.h"

#define SPAN(text) ((struct span){ (text), strlen(text) })

static void on_gone(void *data, uint32_t target)
{
	(void)data;
	(void)target;
}

static struct server_fact server(const char *backend, const char *name, const char *address)
{
	return (struct server_fact){ .backend = SPAN(backend),
		                     .server = SPAN(name),
		                     .address = SPAN(address),
		                     .weight = 1,
		                     .up = true };
}

/* Three instances: a with two replicas, b and c with one. */
static int open_fleet(void **state)
{
	const struct fleet_limits limits = { .instances = 4, .replicas = 8, .models = 8 };
	const struct server_fact facts[] = { server("a", "s1", "10.0.0.1:80"),
		                             server("a", "s2", "10.0.0.2:80"),
		                             server("b", "s1", "10.0.0.3:80"),
		                             server("c", "s1", "10.0.0.4:80") };

	*state = fleet_new(&limits);
	if (!*state)
		return -1;
	(void)fleet_apply(*state, 0, facts, 4, 0, on_gone, NULL);
	return 0;
}

static int close_fleet(void **state)
{
	fleet_free(*state);
	return 0;
}

static bool tell(void *fleet, const char *address, const char *model)
{
	struct span span = SPAN(model);

	return fleet_models(fleet, fleet_target_at(fleet, SPAN(address))->id, &span, NULL, 1);
}

static uint32_t id(void *fleet, const char *model)
{
	return fleet_model_id(fleet, SPAN(model));
}

/* The names of who serves it, in one word. */
static const char *serving(void *fleet, uint32_t model)
{
	static char names[8];
	size_t count = 0;
	const struct instance *const *instances = fleet_serving(fleet, model, &count);

	assert_true(count < sizeof(names));
	for (size_t i = 0; i < count; i++)
		names[i] = instances[i]->name[0];
	names[count] = '\0';
	return names;
}

static bool serves(void *fleet, const char *backend, size_t replica, const char *model)
{
	const struct instance *instance = fleet_instance_named(fleet, SPAN(backend));

	return fleet_replica_serves(fleet, instance, &instance->replicas[replica],
	                            id(fleet, model));
}

static void while_nothing_is_known_all_are_candidates(void **state)
{
	assert_int_equal(id(*state, ""), 0);
	assert_int_equal(id(*state, "m1"), TARGET_NONE);
	assert_string_equal(serving(*state, TARGET_NONE), "abc");
	assert_string_equal(serving(*state, 0), "abc");
	assert_true(serves(*state, "a", 0, "m1"));
	assert_null(fleet_model_name(*state, 0));
	assert_null(fleet_model_name(*state, TARGET_NONE));
}

static void those_that_are_known_to_serve_go_before_the_unknown(void **state)
{
	assert_true(tell(*state, "10.0.0.1:80", "m1"));
	assert_false(tell(*state, "10.0.0.1:80", "m1"));
	assert_string_equal(serving(*state, id(*state, "m1")), "a");
	assert_string_equal(serving(*state, id(*state, "m2")), "bc");
	assert_true(tell(*state, "10.0.0.3:80", "m2"));
	assert_true(tell(*state, "10.0.0.4:80", "m1"));
	assert_string_equal(serving(*state, id(*state, "m1")), "ac");
	assert_string_equal(serving(*state, id(*state, "m2")), "b");
	assert_string_equal(serving(*state, id(*state, "m3")), "");
	assert_string_equal(fleet_model_name(*state, id(*state, "m2")), "m2");
	assert_true(serves(*state, "a", 0, "m1"));
	assert_false(serves(*state, "a", 0, "m2"));
	assert_false(serves(*state, "a", 0, "m3"));
	assert_true(serves(*state, "a", 1, "m2")); /* not asked yet */
	assert_true(serves(*state, "a", 0, ""));
}

static void one_model_serves_those_who_name_none(void **state)
{
	(void)tell(*state, "10.0.0.1:80", "m1");
	assert_string_equal(serving(*state, 0), "a");
	(void)tell(*state, "10.0.0.3:80", "m2");
	assert_string_equal(serving(*state, 0), "");
	fleet_bind(*state, &(struct policy){ .default_model = "m2" });
	assert_string_equal(serving(*state, 0), "b");
	fleet_bind(*state, &(struct policy){ .default_model = "" });
	assert_string_equal(serving(*state, 0), "");
}

static void an_engine_may_serve_many_and_change_its_mind(void **state)
{
	const struct span models[] = { SPAN("m1"), SPAN("m2"), SPAN("m1") };
	const struct span turned[] = { SPAN("m2"), SPAN("m1") };
	uint32_t target = fleet_target_at(*state, SPAN("10.0.0.1:80"))->id;

	assert_true(fleet_models(*state, target, models, NULL, 3));
	assert_false(fleet_models(*state, target, turned, NULL, 2));
	assert_string_equal(serving(*state, id(*state, "m2")), "a");
	assert_true(tell(*state, "10.0.0.1:80", "m3"));
	assert_int_equal(id(*state, "m2"), TARGET_NONE); /* nobody names it any more */
	assert_string_equal(serving(*state, id(*state, "m3")), "a");
	assert_true(fleet_models(*state, target, NULL, NULL, 0));
	assert_string_equal(serving(*state, TARGET_NONE), "abc");
	assert_false(fleet_models(*state, 99, models, NULL, 3));
}

static void what_is_known_of_an_engine_goes_with_it(void **state)
{
	const struct server_fact facts[] = { server("a", "s1", "10.0.0.1:80"),
		                             server("b", "s1", "10.0.0.3:80") };

	(void)tell(*state, "10.0.0.2:80", "m1");
	(void)fleet_apply(*state, 0, facts, 2, 0, on_gone, NULL);
	assert_int_equal(id(*state, "m1"), TARGET_NONE);
	assert_string_equal(serving(*state, 0), "ab");
}

static void the_policy_knows_better_than_the_engines(void **state)
{
	static char models[2][NAME_MAX_BYTES] = { "public", "other" };
	struct instance_policy a = { .name = "a", .models = models, .model_count = 2 };
	struct policy policy = { .instances = &a, .instance_count = 1 };

	(void)tell(*state, "10.0.0.1:80", "/weights/m1");
	fleet_bind(*state, &policy);
	assert_string_equal(serving(*state, id(*state, "public")), "a");
	assert_string_equal(serving(*state, id(*state, "other")), "a");
	assert_string_equal(serving(*state, id(*state, "/weights/m1")), "bc");
	assert_true(serves(*state, "a", 0, "public"));
	assert_true(serves(*state, "a", 1, "other"));
	assert_false(serves(*state, "a", 1, "/weights/m1"));
	fleet_bind(*state, &(struct policy){ .levels = LEVELS_BOTH });
	assert_int_equal(id(*state, "public"), TARGET_NONE);
	assert_string_equal(serving(*state, id(*state, "/weights/m1")), "a");
}

static void aliases_and_rules_make_a_name_known(void **state)
{
	struct alias alias = { .name = "gpt", .model = "m1" };
	struct rule rules[] = { { .model = "m7" }, { .model = "x*" }, { .model = "" } };
	struct policy policy = {
		.aliases = &alias, .alias_count = 1, .rules = rules, .rule_count = 3
	};

	(void)tell(*state, "10.0.0.3:80", "m1");
	(void)tell(*state, "10.0.0.1:80", "m2");
	(void)tell(*state, "10.0.0.4:80", "m2");
	fleet_bind(*state, &policy);
	assert_int_equal(id(*state, "gpt"), id(*state, "m1"));
	assert_string_equal(serving(*state, id(*state, "gpt")), "b");
	assert_int_not_equal(id(*state, "m7"), TARGET_NONE);
	assert_string_equal(serving(*state, id(*state, "m7")), "");
	assert_int_equal(id(*state, "x*"), TARGET_NONE);
	assert_int_equal(fleet_model_count(*state), 4);
}

static void a_full_table_of_names_takes_no_more(void **state)
{
	char name[8];

	for (int i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "m%d", i);
		(void)tell(*state, "10.0.0.1:80", name); /* each replaces the one before */
	}
	assert_string_equal(serving(*state, id(*state, "m19")), "a");
	for (int i = 0; i < 4; i++) {
		struct span models[5];
		char names[5][8];
		char address[] = "10.0.0.1:80";

		address[7] = (char)('1' + i);
		for (int j = 0; j < 5; j++) {
			(void)snprintf(names[j], sizeof(names[j]), "n%d", i * 5 + j);
			models[j] = SPAN(names[j]);
		}
		(void)fleet_models(*state, fleet_target_at(*state, SPAN(address))->id, models, NULL,
		                   5);
	}
	assert_true(fleet_model_count(*state) <= 8);
	assert_string_equal(serving(*state, id(*state, "n0")), "a");
	assert_string_equal(serving(*state, id(*state, "n19")),
	                    "bc"); /* of these nothing is known */
	assert_true(serves(*state, "b", 0, "n19"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fleet, close_fleet)

int main(void)
{
	const struct CMUnitTest models[] = {
		TEST(while_nothing_is_known_all_are_candidates),
		TEST(those_that_are_known_to_serve_go_before_the_unknown),
		TEST(one_model_serves_those_who_name_none),
		TEST(an_engine_may_serve_many_and_change_its_mind),
		TEST(what_is_known_of_an_engine_goes_with_it),
		TEST(the_policy_knows_better_than_the_engines),
		TEST(aliases_and_rules_make_a_name_known),
		TEST(a_full_table_of_names_takes_no_more),
	};

	return cmocka_run_group_tests(models, NULL, NULL);
}
