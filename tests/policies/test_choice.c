/* test_choice.c - header, then profile, then rule; and what an unknown name does. Proves R130,
 * R133, R167. */
#include "policies/choice.h"
#include "tests/policies/world.h"

static struct profile_step steps[3];
static struct profile profiles[2];

/* least-work by the rule; for model m predicted-ttft, from 2000 tokens prefix-cache; for
 * models m-... random. */
static int begin(void **state)
{
	struct world *world = world_new(1, 2);

	steps[0] = (struct profile_step){ 0, strategy_named(SPAN("predicted-ttft")) };
	steps[1] = (struct profile_step){ 2000, strategy_named(SPAN("prefix-cache")) };
	steps[2] = (struct profile_step){ 0, strategy_named(SPAN("random")) };
	profiles[0] = (struct profile){ .model = "m", .steps = steps, .step_count = 2 };
	profiles[1] = (struct profile){ .model = "m*", .steps = &steps[2], .step_count = 1 };
	world->policy.profiles = profiles;
	world->policy.profile_count = 2;
	*state = world;
	return 0;
}

static int end(void **state)
{
	world_free(*state);
	return 0;
}

static struct decision ask(struct world *world, const char *model, uint64_t bytes,
                           const char *header)
{
	struct request request = world_ask_long(world, bytes, 0, 1, 1);

	request.model = SPAN(model);
	request.strategy = header ? SPAN(header) : (struct span){ NULL, 0 };
	return world_decide(world, request);
}

static void expect(struct world *world, const char *model, uint64_t bytes, const char *header,
                   const char *strategy)
{
	struct decision decision = ask(world, model, bytes, header);

	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_string_equal(decision.levels[1].asked->name, strategy);
}

static void what_is_nearer_to_the_request_counts_more(void **state)
{
	struct world *world = *state;

	expect(world, "other", 100, NULL, "least-work");
	expect(world, "m", 100, NULL, "predicted-ttft");
	expect(world, "m-large", 100, NULL, "random");
	expect(world, "m", 100, "least-request", "least-request");
	expect(world, "other", 100, "prefix-cache:2,least-latency", "prefix-cache:2,least-latency");
}

static void a_profile_goes_by_the_length_of_the_prompt(void **state)
{
	struct world *world = *state;

	expect(world, "m", 7999, NULL, "predicted-ttft");
	expect(world, "m", 8000, NULL, "prefix-cache");
	assert_true(ask(world, "m", 8000, NULL).by_profile);
	assert_false(ask(world, "other", 8000, NULL).by_profile);
	steps[0].strategy = NULL;
	expect(world, "m", 7999, NULL, "least-work");
}

static void a_locked_policy_hears_no_header(void **state)
{
	struct world *world = *state;

	world->policy.lock_strategy = true;
	expect(world, "m", 100, "least-request", "predicted-ttft");
	expect(world, "other", 100, "nonsense", "least-work");
	assert_int_equal(world->facts->counters->asked[ASKED_LOCKED], 2);
	assert_int_equal(world->facts->counters->asked[ASKED_UNKNOWN], 0);
}

static void an_unknown_name_is_as_if_none_was_there_and_is_told(void **state)
{
	struct world *world = *state;
	struct decision decision = ask(world, "m", 100, "nonsense");

	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_UNKNOWN_STRATEGY);
	assert_int_equal(decision.asked, ASKED_UNKNOWN);
	assert_string_equal(decision.levels[1].asked->name, "predicted-ttft");
	assert_int_equal(world->facts->counters->asked[ASKED_UNKNOWN], 1);
	decision = ask(world, "m", 100, "random,least-request");
	assert_int_equal(decision.asked, ASKED_UNKNOWN);
	decision = ask(world, "m", 100, "least-request");
	assert_int_equal(decision.asked, ASKED_TAKEN);
	assert_int_equal(decision.reason, REASON_LOAD);
	assert_int_equal(world->facts->counters->asked[ASKED_TAKEN], 1);
}

static void or_it_is_refused_where_the_policy_says_so(void **state)
{
	struct world *world = *state;
	struct decision decision;

	world->policy.reject_unknown_strategy = true;
	decision = ask(world, "m", 100, "nonsense");
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.status, 400);
	assert_int_equal(decision.reason, REASON_UNKNOWN_STRATEGY);
	assert_false(decision.slot);
	assert_int_equal(world->facts->counters->rejected[REASON_UNKNOWN_STRATEGY], 1);
	expect(world, "m", 100, "least-request", "least-request");
	world->policy.lock_strategy = true;
	expect(world, "m", 100, "nonsense", "predicted-ttft");
}

static void explaining_counts_no_header(void **state)
{
	struct world *world = *state;
	struct request request = world_ask(world);
	struct decision decision;

	request.strategy = SPAN("nonsense");
	decider_explain(world->decider, &request, world->now, &decision);
	assert_int_equal(decision.asked, ASKED_UNKNOWN);
	assert_int_equal(world->facts->counters->asked[ASKED_UNKNOWN], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_nearer_to_the_request_counts_more),
		TEST(a_profile_goes_by_the_length_of_the_prompt),
		TEST(a_locked_policy_hears_no_header),
		TEST(an_unknown_name_is_as_if_none_was_there_and_is_told),
		TEST(or_it_is_refused_where_the_policy_says_so),
		TEST(explaining_counts_no_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
