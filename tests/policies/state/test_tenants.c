/* test_tenants.c - how much each caller had lately. Proves R012, R154 in part. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/state/tenants.h"
#include "tests/failing_calloc.h"
#include "tests/near.h"

#define SPAN(text) ((struct span){ (text), strlen(text) })

static struct tenants *tenants;

static int open_table(void **state)
{
	(void)state;
	tenants = tenants_new(8);
	return tenants ? 0 : -1;
}

static int close_table(void **state)
{
	(void)state;
	tenants_free(tenants);
	return 0;
}

static usec_t at(double seconds)
{
	return 1000 * SECOND + (usec_t)(seconds * 1e6);
}

static void charge(const char *name, double input, double output, double seconds)
{
	tenants_charge(tenants, tenant_key(SPAN(name)), SPAN(name), input, output, at(seconds));
}

static double tokens(const char *name, double seconds)
{
	return tenants_tokens(tenants, tenant_key(SPAN(name)), at(seconds));
}

static void answers_count_twice_and_all_of_it_fades(void **state)
{
	(void)state;
	charge("a", 1000, 256, 0);
	assert_close(tokens("a", 0), 1512, 1e-6);
	assert_close(tokens("a", 300), 1512 * exp(-1), 1e-6);
	charge("a", 100, 0, 300);
	assert_close(tokens("a", 300), 1512 * exp(-1) + 100, 1e-6);
	assert_close(tokens("b", 300), 0, 0);
	assert_close(tenants_tokens(tenants, 0, at(0)), 0, 0);
}

/* As if it had been right from the beginning. */
static void a_correction_counts_from_when_it_was_charged(void **state)
{
	(void)state;
	charge("a", 1000, 256, 0);
	tenants_correct(tenants, tenant_key(SPAN("a")), 0, -156, at(0), at(60));
	assert_close(tokens("a", 60), 1200 * exp(-0.2), 1e-6);
	tenants_correct(tenants, tenant_key(SPAN("a")), -2000, 0, at(0), at(60));
	assert_close(tokens("a", 60), 0, 0);
	tenants_correct(tenants, tenant_key(SPAN("b")), 1000, 0, at(0), at(60));
	assert_int_equal(tenants_count(tenants), 1);
	tenants_correct(tenants, 0, 1000, 0, at(0), at(60));
}

static void weight_is_a_part_of_the_fleet(void **state)
{
	struct tenant_policy rich = { .name = "rich", .weight = 4 };
	struct policy policy = { .tenants = &rich, .tenant_count = 1 };

	(void)state;
	tenants_set_policy(tenants, &policy);
	charge("rich", 1000, 100, 0);
	charge("poor", 1000, 100, 0);
	assert_close(tokens("rich", 0), 300, 1e-6);
	assert_close(tokens("poor", 0), 1200, 1e-6);
	tenants_correct(tenants, tenant_key(SPAN("rich")), 0, 100, at(0), at(0));
	assert_close(tokens("rich", 0), 350, 1e-6);
}

static void the_nearest_name_of_the_policy_counts(void **state)
{
	struct tenant_policy list[] = { { .name = "*" },
		                        { .name = "team-*" },
		                        { .name = "team-a" },
		                        { .name = "anonymous" },
		                        { .name = "t*" } };
	struct policy policy = { .tenants = list, .tenant_count = 5 };
	const struct {
		const char *name;
		const struct tenant_policy *found;
	} cases[] = {
		{ "team-a", &list[2] }, { "team-ab", &list[1] }, { "team-", &list[1] },
		{ "team", &list[4] },   { "x", &list[0] },       { "", &list[3] },
		{ "Team-a", &list[0] },
	};

	(void)state;
	tenants_set_policy(tenants, &policy);
	/* Asked for first, and known after. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct span name = SPAN(cases[i].name);

			assert_ptr_equal(tenants_policy(tenants, tenant_key(name), name),
			                 cases[i].found);
			charge(cases[i].name, 1, 1, 0);
		}
	}
	assert_int_equal(tenants_count(tenants), 6);
	policy.tenant_count = 2;
	tenants_set_policy(tenants, &policy);
	assert_ptr_equal(tenants_policy(tenants, tenant_key(SPAN("team-a")), SPAN("team-a")),
	                 &list[1]);
	charge("team-a", 1, 1, 0);
	assert_ptr_equal(tenants_policy(tenants, tenant_key(SPAN("team-a")), SPAN("team-a")),
	                 &list[1]);
	policy.tenant_count = 0;
	tenants_set_policy(tenants, &policy);
	assert_null(tenants_policy(tenants, tenant_key(SPAN("team-a")), SPAN("team-a")));
	charge("team-a", 1, 1, 0);
	tenants_set_policy(tenants, NULL);
	assert_null(tenants_policy(tenants, tenant_key(SPAN("team-a")), SPAN("team-a")));
}

static void the_range_is_of_those_who_are_active(void **state)
{
	struct tenants_range range;

	(void)state;
	assert_int_equal(tenants_range(tenants, at(0)).active, 0);
	charge("old", 10, 0, 0);
	charge("heavy", 12000, 0, 30);
	charge("light", 1000, 0, 59);
	range = tenants_range(tenants, at(59));
	assert_int_equal(range.active, 3);
	assert_close(range.least, 10 * exp(-59.0 / 300), 1e-6);
	assert_close(range.most, 12000 * exp(-29.0 / 300), 1e-6);
	tenants_look(tenants, at(60.5));
	range = tenants_range(tenants, at(60.5));
	assert_int_equal(range.active, 2);
	assert_close(range.least, 1000 * exp(-1.5 / 300), 1e-6);
	assert_close(tenants_range(tenants, at(360.5)).least, 1000 * exp(-301.5 / 300), 1e-6);
	tenants_look(tenants, at(120));
	range = tenants_range(tenants, at(120));
	assert_int_equal(range.active, 0);
	assert_close(range.least, 0, 0);
	assert_close(range.most, 0, 0);
}

static void it_is_looked_at_ten_times_a_second_at_most(void **state)
{
	(void)state;
	charge("a", 100, 0, 0);
	charge("b", 10, 0, 0.05);
	assert_int_equal(tenants_range(tenants, at(0.05)).active, 1);
	charge("a", 0, 0, 0.1);
	assert_int_equal(tenants_range(tenants, at(0.1)).active, 2);
}

static double offset(const char *name, double capacity)
{
	return tenants_offset_ms(tenants, tenant_key(SPAN(name)), capacity, at(0));
}

/* V 1000 and 12 000. */
static void who_had_more_waits_for_what_it_had_more(void **state)
{
	(void)state;
	charge("light", 1000, 0, 0);
	charge("heavy", 12000, 0, 0);
	assert_close(offset("heavy", 4000), 2750, 1e-6);
	assert_close(offset("light", 4000), 0, 1e-9);
	assert_close(offset("heavy", 0), 11000, 1e-6);
	assert_close(offset("heavy", 100), 30000, 0);
	assert_close(offset("nobody", 100), 0, 0);
	assert_close(tenants_offset_ms(tenants, 0, 100, at(0)), 0, 0);
}

static void the_smallest_makes_place(void **state)
{
	char name[] = "t0";

	(void)state;
	for (int i = 0; i < 8; i++) {
		name[1] = (char)('0' + i);
		charge(name, 100 + (i + 3) % 8, 0, 0);
	}
	charge("new", 1, 0, 0); /* t5 had least */
	assert_int_equal(tenants_count(tenants), 8);
	assert_int_equal(tenants_dropped(tenants), 1);
	assert_close(tokens("t5", 0), 0, 0);
	assert_close(tokens("new", 0), 1, 1e-6);
	charge("newer", 5000, 0, 0);
	assert_close(tokens("new", 0), 0, 0);
	assert_close(tokens("newer", 0), 5000, 1e-6);
	for (int i = 0; i < 8; i++) {
		name[1] = (char)('0' + i);
		assert_close(tokens(name, 0), i == 5 ? 0 : 100 + (i + 3) % 8, 1e-6);
	}
}

/* A day is 288 time constants: e^288 would be no number to add to. */
static void numbers_stay_numbers_for_months(void **state)
{
	(void)state;
	for (int hour = 0; hour < 2000; hour++) {
		charge("a", 1000, 0, 3600.0 * hour);
		charge("b", 10, 0, 3600.0 * hour + 1);
	}
	assert_close(tokens("a", 3600.0 * 1999), 1000 + 1000 * exp(-12), 1e-3);
	tenants_look(tenants, at(3600.0 * 1999 + 1.2));
	assert_close(tenants_range(tenants, at(3600.0 * 1999 + 1)).least, 10, 1e-3);
	assert_close(tenants_range(tenants, at(3600.0 * 1999)).most, 1000.006144, 1e-3);
}

static void names_are_shown_as_far_as_there_is_room(void **state)
{
	char name[200];
	struct tenant_view view;

	(void)state;
	memset(name, 'x', sizeof(name));
	tenants_charge(tenants, tenant_key((struct span){ name, 200 }), (struct span){ name, 200 },
	               10, 0, at(0));
	tenants_charge(tenants, tenant_key((struct span){ name, 199 }), (struct span){ name, 199 },
	               10, 0, at(0));
	assert_int_equal(tenants_count(tenants), 2);
	view = tenants_at(tenants, 0, at(300));
	assert_int_equal(strlen(view.name), TENANT_LABEL_BYTES - 1);
	assert_close(view.tokens, 10 * exp(-1), 1e-9);
	assert_int_equal(view.requests, 1);
	assert_int_equal(view.seen, at(0));
	assert_null(view.policy);
}

static void nobody_is_no_caller(void **state)
{
	(void)state;
	assert_int_equal(tenant_key((struct span){ NULL, 0 }), 0);
	assert_int_not_equal(tenant_key(SPAN("a")), 0);
	charge("", 1000, 1000, 0);
	assert_int_equal(tenants_count(tenants), 0);
}

static void no_memory_is_told(void **state)
{
	(void)state;
	for (int i = 1; i <= 5; i++) {
		failing = i;
		assert_null(tenants_new(4));
	}
	failing = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_table, close_table)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_count_twice_and_all_of_it_fades),
		TEST(a_correction_counts_from_when_it_was_charged),
		TEST(weight_is_a_part_of_the_fleet),
		TEST(the_nearest_name_of_the_policy_counts),
		TEST(the_range_is_of_those_who_are_active),
		TEST(it_is_looked_at_ten_times_a_second_at_most),
		TEST(who_had_more_waits_for_what_it_had_more),
		TEST(the_smallest_makes_place),
		TEST(numbers_stay_numbers_for_months),
		TEST(names_are_shown_as_far_as_there_is_room),
		TEST(nobody_is_no_caller),
		TEST(no_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
