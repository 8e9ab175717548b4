/* test_affinity.c - who may serve whom: only, never, split, strict. Proves R022, R060, R061, R062.
 */
#include "policies/stages/affinity.h"

#include "tests/policies/world.h"

enum { ROOM = 4 };

static struct world *world;
static char names[4][NAME_MAX_BYTES] = { "a", "b", "c", "d" };
static char values[ROOM][NAME_MAX_BYTES];
static struct affinity affinities[ROOM];
static struct request request;

/* Instances a to d, each with one server. Level 1 alone. */
static int begin(void **state)
{
	(void)state;
	world = world_new(4, 1);
	world->policy.levels = LEVELS_INSTANCE;
	world_strategy(world, "least-request");
	world->policy.default_rule.instances = names;
	world->policy.default_rule.instance_count = 4;
	memset(affinities, 0, sizeof(affinities));
	world->policy.affinities = affinities;
	world->policy.affinity_count = 1;
	request = world_ask(world);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

/* Rule number i is for these values of the tenant. */
static struct affinity *tenant_rule(size_t i, enum affinity_match match, const char *value)
{
	(void)snprintf(values[i], NAME_MAX_BYTES, "%s", value);
	affinities[i] = (struct affinity){ .on = AFFINITY_TENANT,
		                           .match = match,
		                           .values = &values[i],
		                           .value_count = match != AFFINITY_ANY };
	return &affinities[i];
}

static void only(struct affinity *affinity, size_t first, uint32_t count)
{
	affinity->only = &names[first];
	affinity->only_count = count;
}

static void never(struct affinity *affinity, size_t first, uint32_t count)
{
	affinity->never = &names[first];
	affinity->never_count = count;
}

/* The names of those that stood after the stage, in order of the alphabet. */
static const char *standing(void)
{
	static char text[8];
	struct decision decision;
	size_t len = 0;

	decider_explain(world->decider, &request, world->now, &decision);
	for (char name = 'a'; name <= 'd'; name++) {
		const struct level_trace *level = &decision.levels[0];

		for (size_t i = 0; i < level->count; i++) {
			const struct candidate *candidate = &level->pool[i];

			if (candidate->instance->name[0] == name &&
			    candidate->dropped_by != &stage_affinity)
				text[len++] = name;
		}
	}
	text[len] = '\0';
	return text;
}

static void expect(const char *tenant, const char *names_standing)
{
	request.tenant = tenant ? SPAN(tenant) : (struct span){ NULL, 0 };
	assert_string_equal(standing(), names_standing);
}

static void without_a_rule_that_applies_all_stand(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 1, 1);
	expect("other", "abcd");
	expect("acm", "abcd");
	expect("acmes", "abcd");
	world->policy.affinity_count = 0;
	expect("acme", "abcd");
}

static void only_leaves_its_set_and_never_takes_its_away(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 1, 2);
	expect("acme", "bc");
	never(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 1, 2);
	expect("acme", "ad");
}

static void several_only_intersect(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 0, 3);
	only(tenant_rule(1, AFFINITY_PREFIX, "ac"), 2, 2);
	world->policy.affinity_count = 2;
	expect("acme", "c");
	expect("action", "cd");
}

static void rules_of_the_policy_and_of_the_matched_rule_hold_together(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 0, 2);
	never(tenant_rule(1, AFFINITY_ANY, ""), 0, 1);
	world->policy.default_rule.affinities = &affinities[1];
	world->policy.default_rule.affinity_count = 1;
	expect("acme", "b");
	expect("other", "bcd");
}

static void values_match_by_prefix_or_by_not_being_there(void **state)
{
	(void)state;
	never(tenant_rule(0, AFFINITY_PREFIX, "ac"), 0, 3);
	expect("acme", "d");
	expect("a", "abcd");
	never(tenant_rule(0, AFFINITY_NONE_OF, "acme"), 0, 3);
	expect("acme", "abcd");
	expect("other", "d");
	expect(NULL, "d");
}

static void no_tenant_is_the_tenant_anonymous(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "anonymous"), 3, 1);
	expect(NULL, "d");
	expect("acme", "abcd");
}

static void a_header_is_found_by_its_name_whatever_its_capitals(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "eu"), 2, 1);
	affinities[0].on = AFFINITY_HEADER;
	(void)strcpy(affinities[0].header, "X-User-Region");
	expect(NULL, "abcd");
	request.headers[0] = (struct header){ SPAN("x-user-region-2"), SPAN("eu") };
	request.headers[1] = (struct header){ SPAN("x-user-REGION"), SPAN("eu") };
	request.header_count = 1;
	expect(NULL, "abcd");
	request.header_count = 2;
	expect(NULL, "c");
	request.headers[1].value = SPAN("EU");
	expect(NULL, "abcd");
	/* A tenant of that name is something else. */
	request.header_count = 0;
	expect("eu", "abcd");
	/* Who has no such header has none of the values. */
	affinities[0].match = AFFINITY_NONE_OF;
	expect(NULL, "c");
}

static void a_session_binds_too(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_PREFIX, "test-"), 0, 1);
	affinities[0].on = AFFINITY_SESSION;
	expect("test-", "abcd");
	request.session = SPAN("test-17");
	expect(NULL, "a");
}

/* ---- split */

static double shares[4];

static void split(double a, double b)
{
	tenant_rule(0, AFFINITY_ANY, "");
	affinities[0].split = names;
	affinities[0].shares = shares;
	affinities[0].split_count = 2;
	shares[0] = a;
	shares[1] = b;
}

static char part_of(uint32_t tenant)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "tenant-%u", tenant);
	request.tenant = SPAN(text);
	assert_int_equal(strlen(standing()), 1);
	return standing()[0];
}

static void a_split_is_sticky_and_keeps_its_shares(void **state)
{
	uint32_t canary = 0;

	(void)state;
	split(90, 10);
	for (uint32_t i = 0; i < 4000; i++) {
		char part = part_of(i);

		assert_int_equal(part, part_of(i));
		canary += part == 'b';
	}
	/* 400 expected; 4 standard deviations are 76. */
	assert_in_range(canary, 400 - 76, 400 + 76);
}

static void a_larger_share_moves_only_those_that_must_move(void **state)
{
	uint32_t moved = 0;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		char before;

		split(90, 10);
		before = part_of(i);
		split(80, 20);
		if (before == 'b')
			assert_int_equal(part_of(i), 'b');
		moved += part_of(i) != before;
	}
	assert_in_range(moved, 100, 300);
}

static void a_part_that_is_down_hands_its_requests_to_the_others(void **state)
{
	(void)state;
	split(50, 50);
	world_server(world, "a", "s1")->up = false;
	world_apply(world);
	for (uint32_t i = 0; i < 50; i++) {
		struct decision decision;
		char text[32];

		(void)snprintf(text, sizeof(text), "tenant-%u", i);
		request.tenant = SPAN(text);
		decision = world_decide(world, request);
		assert_string_equal(decision.instance->name, "b");
	}
}

static void a_share_of_nothing_gets_nothing(void **state)
{
	(void)state;
	split(1, 0);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(part_of(i), 'a');
	assert_true(affinity_draw(SPAN("k"), "a", 0) == 0);
	assert_true(affinity_draw(SPAN("k"), "a", 2) == 2 * affinity_draw(SPAN("k"), "a", 1));
}

static void without_a_key_a_split_draws_by_lot(void **state)
{
	uint32_t second = 0;

	(void)state;
	split(50, 50);
	affinities[0].on = AFFINITY_SESSION;
	for (uint32_t i = 0; i < 1000; i++) {
		struct decision decision = world_decide(world, world_ask(world));

		second += decision.instance->name[0] == 'b';
		world_end(world, SPAN(world->id));
	}
	assert_in_range(second, 500 - 64, 500 + 64);
}

/* ---- nobody left */

static void down(const char *name)
{
	world_server(world, name, "s1")->up = false;
	world_apply(world);
}

static void nobody_left_falls_back_rather_than_being_refused(void **state)
{
	struct decision decision;

	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 0, 1);
	world->policy.default_rule.fallbacks = &names[3];
	world->policy.default_rule.fallback_count = 1;
	world->policy.default_rule.instance_count = 3;
	request.tenant = SPAN("acme");
	down("a");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_FALLBACK);
	assert_string_equal(decision.instance->name, "d");
}

static void without_fallback_nobody_left_fails_open_to_the_others(void **state)
{
	struct decision decision;

	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 0, 1);
	request.tenant = SPAN("acme");
	down("a");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_FAIL_OPEN);
	assert_string_not_equal(decision.instance->name, "a");
}

static void expect_refused(void)
{
	struct decision decision = world_decide(world, request);

	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.reason, REASON_NO_ELIGIBLE);
	assert_int_equal(decision.status, 503);
	assert_null(decision.instance);
	assert_false(decision.slot);
}

static void strict_holds_for_fallback_services_and_then_refuses(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 0, 1);
	affinities[0].strict = true;
	world->policy.default_rule.fallbacks = &names[3];
	world->policy.default_rule.fallback_count = 1;
	world->policy.default_rule.instance_count = 3;
	request.tenant = SPAN("acme");
	assert_string_equal(world_decide(world, request).instance->name, "a");
	down("a");
	expect_refused();
	/* Others are not held to it. */
	request.tenant = SPAN("other");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_ROUTED);
	/* A fallback service that the rule names may serve. */
	request.tenant = SPAN("acme");
	world->policy.default_rule.fallbacks = &names[1];
	affinities[0].only_count = 2;
	down("b");
	expect_refused();
	world_server(world, "b", "s1")->up = true;
	world_apply(world);
	world->policy.default_rule.instance_count = 1;
	assert_string_equal(world_decide(world, request).instance->name, "b");
}

static void strict_refuses_where_nothing_is_known_either(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 0, 1);
	affinities[0].strict = true;
	request.tenant = SPAN("acme");
	world->count = 0;
	world_apply(world);
	expect_refused();
	request.tenant = SPAN("other");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_UNANSWERED);
}

static void overload_never_leads_out_of_the_set(void **state)
{
	(void)state;
	only(tenant_rule(0, AFFINITY_ONE_OF, "acme"), 0, 1);
	world->policy.default_rule.chain[0].admit.running = 4;
	world_busy(world, "a", "s1", 5);
	request.tenant = SPAN("acme");
	for (size_t i = 0; i < 8; i++) {
		struct decision decision = world_decide(world, request);

		assert_int_equal(decision.reason, REASON_FAIL_OPEN);
		assert_string_equal(decision.instance->name, "a");
		world_end(world, request.id);
		request = world_ask(world);
		request.tenant = SPAN("acme");
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_rule_that_applies_all_stand),
		TEST(only_leaves_its_set_and_never_takes_its_away),
		TEST(several_only_intersect),
		TEST(rules_of_the_policy_and_of_the_matched_rule_hold_together),
		TEST(values_match_by_prefix_or_by_not_being_there),
		TEST(no_tenant_is_the_tenant_anonymous),
		TEST(a_header_is_found_by_its_name_whatever_its_capitals),
		TEST(a_session_binds_too),
		TEST(a_split_is_sticky_and_keeps_its_shares),
		TEST(a_larger_share_moves_only_those_that_must_move),
		TEST(a_part_that_is_down_hands_its_requests_to_the_others),
		TEST(a_share_of_nothing_gets_nothing),
		TEST(without_a_key_a_split_draws_by_lot),
		TEST(nobody_left_falls_back_rather_than_being_refused),
		TEST(without_fallback_nobody_left_fails_open_to_the_others),
		TEST(strict_holds_for_fallback_services_and_then_refuses),
		TEST(strict_refuses_where_nothing_is_known_either),
		TEST(overload_never_leads_out_of_the_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
