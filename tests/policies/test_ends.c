/* test_ends.c - what becomes of a request that nobody may take. Proves R019, R024, R025, R028,
 * R035, R080, R082, R083, R084, R085, R087; docs/strategies.md. */
#include "tests/policies/world.h"

static struct world *world;
static char names[8][NAME_MAX_BYTES];

/* Instances a and b with one replica each, and f, the fallback. Level 1 alone. */
static int begin(void **state)
{
	(void)state;
	world = world_new(3, 1);
	memcpy(world->names[2][0], "f", 2);
	world_apply(world);
	for (size_t i = 0; i < 3; i++)
		memcpy(names[i], world->names[i][0], 2);
	world->policy.levels = LEVELS_INSTANCE;
	world_strategy(world, "least-request");
	world->policy.default_rule.instances = names;
	world->policy.default_rule.instance_count = 2;
	world->policy.default_rule.chain[0].admit.running = 10;
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static void fallback_to_f(void)
{
	world->policy.default_rule.fallbacks = &names[2];
	world->policy.default_rule.fallback_count = 1;
}

/* So many in flight, and so many releases a minute; events are being seen. */
static void load(const char *name, uint32_t running, uint32_t releases)
{
	uint32_t target = world_instance(world, name)->target->id;

	for (uint32_t i = 0; i < releases; i++)
		assert_true(ledger_release(
		        world->facts->ledger,
		        ledger_acquire(world->facts->ledger, target, 0, 0, world->now),
		        world->now));
	world_busy(world, name, "s1", running);
	average_add(&averages_of(world->facts->averages, target)->ttft_ms, 100, 30 * SECOND,
	            world->now);
}

static struct decision decide(void)
{
	return world_decide(world, world_ask(world));
}

static void expect_fail_open(void)
{
	struct decision decision = decide();

	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_FAIL_OPEN);
	assert_non_null(decision.instance);
	assert_null(decision.replica);
}

static void certain_overload_of_all_is_refused(void **state)
{
	struct decision decision;

	(void)state;
	load("a", 26, 30);
	load("b", 27, 15);
	decision = decide();
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.reason, REASON_OVERLOAD);
	assert_int_equal(decision.status, 429);
	assert_int_equal(decision.retry_after, 4);
	assert_null(decision.instance);
	assert_false(decision.slot);
	assert_int_equal(world->facts->counters->rejected[REASON_OVERLOAD], 1);
	world->policy.overload_status = 503;
	assert_int_equal(decide().status, 503);
}

static void without_a_rate_the_client_is_asked_to_wait_two_seconds(void **state)
{
	(void)state;
	load("a", 26, 0);
	load("b", 26, 0);
	assert_int_equal(decide().retry_after, 2);
}

static void the_wait_is_never_longer_than_two_minutes(void **state)
{
	(void)state;
	load("a", 60, 1);
	load("b", 70, 1);
	assert_int_equal(decide().retry_after, 120);
}

static void between_soft_and_hard_limits_it_fails_open(void **state)
{
	(void)state;
	load("a", 11, 30);
	load("b", 12, 30);
	expect_fail_open();
}

static void a_silent_feed_of_events_refuses_nobody(void **state)
{
	(void)state;
	load("a", 26, 30);
	load("b", 27, 30);
	world->now += 61 * SECOND;
	expect_fail_open();
	ledger_reconcile(world->facts->ledger, world_instance(world, "a")->target->id, 26,
	                 world->now);
	ledger_reconcile(world->facts->ledger, world_instance(world, "b")->target->id, 27,
	                 world->now);
	assert_int_equal(decide().outcome, OUTCOME_REJECTED);
}

static void refusing_can_be_switched_off(void **state)
{
	(void)state;
	load("a", 26, 30);
	load("b", 27, 30);
	world->policy.reject_on_overload = false;
	expect_fail_open();
}

static void the_fallback_comes_before_a_refusal(void **state)
{
	struct decision decision;

	(void)state;
	fallback_to_f();
	load("a", 26, 30);
	load("b", 27, 30);
	load("f", 3, 0);
	decision = decide();
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_FALLBACK);
	assert_string_equal(decision.instance->name, "f");
	assert_true(decision.slot);
	load("f", 23, 0);
	assert_int_equal(decide().outcome, OUTCOME_REJECTED);
}

static void a_fallback_between_its_limits_takes_nothing_and_lets_nobody_be_refused(void **state)
{
	(void)state;
	fallback_to_f();
	load("a", 26, 30);
	load("b", 27, 30);
	load("f", 11, 0);
	expect_fail_open();
	/* One that is down is no candidate at all. */
	world_server(world, "f", "s1")->up = false;
	world_apply(world);
	assert_int_equal(decide().outcome, OUTCOME_REJECTED);
}

static void the_record_of_a_fallback_has_all_numbers_of_all_candidates(void **state)
{
	struct decision decision;

	(void)state;
	fallback_to_f();
	load("a", 11, 0);
	load("b", 12, 0);
	decision = decide();
	assert_int_equal(decision.reason, REASON_FALLBACK);
	assert_int_equal(decision.levels[0].count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct candidate *candidate = &decision.levels[0].pool[i];

		assert_ptr_equal(candidate->dropped_by, &stage_admission);
		assert_true(candidate->running == 11 || candidate->running == 12);
		assert_non_null(candidate->load);
		assert_true(candidate->load->ttft_ms == 100);
		assert_true(candidate->load->pending == -1);
	}
	/* Those dropped before anything was measured as well. */
	world_server(world, "a", "s1")->up = false;
	world_server(world, "b", "s1")->up = false;
	world_apply(world);
	decision = decide();
	assert_int_equal(decision.reason, REASON_FALLBACK);
	for (size_t i = 0; i < 2; i++) {
		const struct candidate *candidate = &decision.levels[0].pool[i];

		assert_ptr_equal(candidate->dropped_by, &stage_health);
		assert_true(candidate->running == 11 || candidate->running == 12);
		assert_non_null(candidate->load);
	}
}

static void a_fallback_that_is_down_is_no_fallback(void **state)
{
	(void)state;
	fallback_to_f();
	load("a", 11, 30);
	load("b", 12, 30);
	world_server(world, "f", "s1")->up = false;
	world_apply(world);
	expect_fail_open();
}

static void a_fallback_chooses_its_replica_too(void **state)
{
	struct decision decision;

	(void)state;
	fallback_to_f();
	world->policy.levels = LEVELS_BOTH;
	load("a", 11, 30);
	load("b", 12, 30);
	decision = decide();
	assert_int_equal(decision.reason, REASON_FALLBACK);
	assert_string_equal(decision.instance->name, "f");
	expect_server(&decision, "s1");
}

static void a_stale_reading_admits(void **state)
{
	struct engine_page page = {
		.at = world->now, .running = -1, .waiting = 50, .kv_usage = -1
	};

	(void)state;
	world->policy.default_rule.chain[0].admit = (struct limits){ .pending = 10 };
	load("a", 2, 0);
	load("b", 2, 0);
	for (size_t i = 0; i < 2; i++)
		engines_put(world->facts->engines, world_replica(world, names[i], "s1")->target->id,
		            &page);
	assert_int_equal(decide().outcome, OUTCOME_REJECTED);
	world->now += 3 * SECOND + MSEC;
	assert_int_equal(decide().outcome, OUTCOME_ROUTED);
	assert_int_equal(decide().reason, REASON_LOAD);
}

static void in_turn_is_smooth_and_by_weight(void **state)
{
	struct instance_policy *weighted = calloc(3, sizeof(*weighted));
	char turns[8] = "";

	(void)state;
	assert_non_null(weighted);
	for (size_t i = 0; i < 3; i++) {
		weighted[i] = world->policy.default_instance;
		memcpy(weighted[i].name, names[i], 2);
		weighted[i].weight = i == 0 ? 5 : 1;
	}
	world->policy.instances = weighted;
	world->policy.instance_count = 3;
	world->policy.default_rule.instance_count = 3;
	facts_set_policy(world->facts, &world->policy);
	for (size_t i = 0; i < 3; i++)
		load(names[i], 11, 0);
	for (size_t i = 0; i < 7; i++)
		turns[i] = decide().instance->name[0];
	assert_string_equal(turns, "aabafaa");
	free(weighted);
}

static void those_down_are_left_out_of_the_turns_unless_all_are(void **state)
{
	(void)state;
	load("a", 11, 0);
	load("b", 11, 0);
	world_server(world, "b", "s1")->up = false;
	world_apply(world);
	for (int i = 0; i < 4; i++)
		assert_string_equal(decide().instance->name, "a");
	world_server(world, "a", "s1")->up = false;
	world_apply(world);
	assert_string_not_equal(decide().instance->name, decide().instance->name);
}

static void nothing_collected_is_left_to_haproxy(void **state)
{
	struct decision decision;

	(void)state;
	memcpy(names[0], "x", 2);
	memcpy(names[1], "y", 2);
	decision = decide();
	assert_int_equal(decision.outcome, OUTCOME_UNANSWERED);
	assert_int_equal(decision.reason, REASON_NO_CANDIDATE);
	assert_null(decision.instance);
}

static void serve(const char *model)
{
	struct span span = SPAN(model);

	for (size_t i = 0; i < 3; i++)
		(void)fleet_models(world->facts->fleet,
		                   world_replica(world, names[i], "s1")->target->id, &span, NULL,
		                   1);
}

static struct decision decide_for(const char *model)
{
	struct request request = world_ask(world);

	request.model = SPAN(model);
	return world_decide(world, request);
}

static void a_model_that_nobody_serves_is_left_to_haproxy_or_refused(void **state)
{
	struct decision decision;

	(void)state;
	world->policy.default_rule.instance_count = 0;
	serve("m1");
	assert_int_equal(decide_for("m1").outcome, OUTCOME_ROUTED);
	decision = decide_for("m2");
	assert_int_equal(decision.outcome, OUTCOME_UNANSWERED);
	assert_int_equal(decision.reason, REASON_UNKNOWN_MODEL);
	world->policy.reject_unknown_model = true;
	decision = decide_for("m2");
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.reason, REASON_UNKNOWN_MODEL);
	assert_int_equal(decision.status, 404);
	fallback_to_f();
	decision = decide_for("m2");
	assert_int_equal(decision.reason, REASON_FALLBACK);
	assert_string_equal(decision.instance->name, "f");
}

static void a_rules_instances_must_serve_the_model_as_well(void **state)
{
	(void)state;
	serve("m1");
	assert_int_equal(decide_for("m1").outcome, OUTCOME_ROUTED);
	assert_int_equal(decide_for("m2").outcome, OUTCOME_UNANSWERED);
	assert_int_equal(decide_for("m2").reason, REASON_UNKNOWN_MODEL);
}

static void an_instance_whose_replicas_are_full_is_passed_over(void **state)
{
	struct decision decision;

	(void)state;
	world->policy.levels = LEVELS_BOTH;
	world->policy.default_rule.chain[0].admit = (struct limits){ 0 };
	world_entry(world)->admit.running = 2;
	/* b looks better as an instance; its replica is full by what HAProxy counts. */
	load("a", 1, 0);
	for (int i = 0; i < 3; i++)
		ledger_reconcile(world->facts->ledger, world_replica(world, "b", "s1")->target->id,
		                 9, world->now);
	decision = decide();
	assert_string_equal(decision.instance->name, "a");
	expect_server(&decision, "s1");
	/* Both full, but only b by more than the hard limit. */
	decision = decide();
	assert_int_equal(decision.reason, REASON_FAIL_OPEN);
	for (int i = 0; i < 3; i++)
		ledger_reconcile(world->facts->ledger, world_replica(world, "a", "s1")->target->id,
		                 9, world->now);
	decision = decide();
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.status, 429);
}

static void level_2_alone_fails_open_by_naming_no_replica(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	world->policy.levels = LEVELS_REPLICA;
	world_entry(world)->admit.running = 2;
	load("a", 3, 0);
	request.backend = SPAN("a");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_FAIL_OPEN);
	assert_string_equal(decision.instance->name, "a");
	assert_null(decision.replica);
	load("a", 3, 0);
	request = world_ask(world);
	request.backend = SPAN("a");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
}

static void a_low_score_is_no_overload(void **state)
{
	struct entry_policy *entry = &world->policy.default_rule.chain[0];

	(void)state;
	load("a", 26, 0);
	load("b", 26, 0);
	entry->admit.running = 0;
	entry->hard.running = 1;
	entry->min_score = 1;
	entry->strategy = strategy_named(SPAN("random"));
	expect_fail_open();
}

static void explaining_takes_nobodys_turn(void **state)
{
	struct decision explained;

	(void)state;
	load("a", 11, 0);
	load("b", 11, 0);
	for (int i = 0; i < 4; i++) {
		struct request request = world_ask(world);

		for (int times = 0; times < 3; times++)
			decider_explain(world->decider, &request, world->now, &explained);
		assert_ptr_equal(world_decide(world, request).instance, explained.instance);
		assert_string_equal(explained.instance->name, names[i % 2]);
	}
}

static void an_instance_in_maintenance_is_passed_over(void **state)
{
	(void)state;
	world_server(world, "a", "s1")->maintenance = true;
	world_apply(world);
	for (int i = 0; i < 5; i++)
		assert_string_equal(decide().instance->name, "b");
}

static void drained_instances_serve_when_all_are_drained(void **state)
{
	struct instance_policy *drained = calloc(2, sizeof(*drained));

	(void)state;
	assert_non_null(drained);
	for (size_t i = 0; i < 2; i++) {
		drained[i] = world->policy.default_instance;
		memcpy(drained[i].name, names[i], 2);
		drained[i].weight = i == 0 ? 0 : 1;
	}
	world->policy.instances = drained;
	world->policy.instance_count = 2;
	facts_set_policy(world->facts, &world->policy);
	for (int i = 0; i < 5; i++)
		assert_string_equal(decide().instance->name, "b");
	drained[1].weight = 0;
	facts_set_policy(world->facts, &world->policy);
	assert_int_equal(decide().reason, REASON_LOAD);
	free(drained);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(certain_overload_of_all_is_refused),
		TEST(without_a_rate_the_client_is_asked_to_wait_two_seconds),
		TEST(the_wait_is_never_longer_than_two_minutes),
		TEST(between_soft_and_hard_limits_it_fails_open),
		TEST(a_silent_feed_of_events_refuses_nobody),
		TEST(refusing_can_be_switched_off),
		TEST(the_fallback_comes_before_a_refusal),
		TEST(a_fallback_between_its_limits_takes_nothing_and_lets_nobody_be_refused),
		TEST(the_record_of_a_fallback_has_all_numbers_of_all_candidates),
		TEST(a_fallback_that_is_down_is_no_fallback),
		TEST(a_fallback_chooses_its_replica_too),
		TEST(a_stale_reading_admits),
		TEST(in_turn_is_smooth_and_by_weight),
		TEST(those_down_are_left_out_of_the_turns_unless_all_are),
		TEST(nothing_collected_is_left_to_haproxy),
		TEST(a_model_that_nobody_serves_is_left_to_haproxy_or_refused),
		TEST(a_rules_instances_must_serve_the_model_as_well),
		TEST(an_instance_whose_replicas_are_full_is_passed_over),
		TEST(level_2_alone_fails_open_by_naming_no_replica),
		TEST(a_low_score_is_no_overload),
		TEST(explaining_takes_nobodys_turn),
		TEST(an_instance_in_maintenance_is_passed_over),
		TEST(drained_instances_serve_when_all_are_drained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
