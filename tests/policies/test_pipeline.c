/* test_pipeline.c - from a request to an instance and a replica of it. Proves R001, R002, R004,
 * R009, R013, R020, R039, R176, B021, B023, P056, P060. */
#include "tests/policies/world.h"

static struct world *world;

static int one_instance(void **state)
{
	(void)state;
	world = world_new(1, 4);
	return 0;
}

static int three_instances(void **state)
{
	(void)state;
	world = world_new(3, 4);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static void a_request_gets_an_instance_a_replica_and_a_slot(void **state)
{
	struct decision decision = world_decide(world, world_ask(world));

	(void)state;
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_LOAD);
	assert_string_equal(decision.instance->name, "a");
	assert_non_null(decision.replica);
	assert_true(decision.slot);
	assert_int_equal(decision.sequence, 1);
	assert_true(ledger_running(world->facts->ledger, decision.replica->target->id,
	                           world->now) == 1);
	assert_true(ledger_running(world->facts->ledger, decision.instance->target->id,
	                           world->now) == 1);
	assert_int_equal(decision.replica->target->chosen, 1);
	assert_int_equal(inflight_count(world->facts->inflight), 1);
	assert_int_equal(world->facts->counters->decisions, 1);
}

static void idle_replicas_take_turns(void **state)
{
	uint32_t seen[64 + WORLD_SERVERS_MAX] = { 0 };

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct request request = world_ask(world);
		struct decision decision = world_decide(world, request);

		seen[decision.replica->target->id]++;
		world_end(world, request.id);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(seen[world_instance(world, "a")->replicas[i].target->id], 10);
}

static void a_burst_spreads_evenly_since_every_choice_is_seen_by_the_next(void **state)
{
	(void)state;
	world_strategy(world, "least-request");
	for (int i = 0; i < 256; i++)
		assert_true(world_decide(world, world_ask(world)).slot);
	for (size_t i = 0; i < 4; i++)
		assert_true(world_running(world, "a", world->names[i][1]) == 64);
}

static void a_burst_spreads_nearly_evenly_where_chance_decides(void **state)
{
	static const char *const strategies[] = { "soft-k-choice", "power-of-two" };

	(void)state;
	for (size_t s = 0; s < 2; s++) {
		end(state);
		one_instance(state);
		world_strategy(world, strategies[s]);
		for (int i = 0; i < 256; i++)
			(void)world_decide(world, world_ask(world));
		for (size_t i = 0; i < 4; i++)
			assert_in_range(world_running(world, "a", world->names[i][1]), 59, 69);
	}
}

static void every_recipe_takes_a_slot_for_every_decision(void **state)
{
	(void)state;
	for (size_t s = 0; strategy_at(s); s++) {
		double total = 0;

		end(state);
		one_instance(state);
		world_strategy(world, strategy_at(s)->name);
		for (int i = 0; i < 8; i++)
			(void)world_decide(world, world_ask(world));
		for (size_t i = 0; i < 4; i++)
			total += world_running(world, "a", world->names[i][1]);
		assert_true(total == 8);
	}
}

static void weights_divide_load(void **state)
{
	(void)state;
	world_strategy(world, "least-request");
	world_entry(world)->gate_gap = 1e6;
	world_server(world, "a", "s1")->weight = 3;
	world_server(world, "a", "s3")->maintenance = true;
	world_server(world, "a", "s4")->maintenance = true;
	world_apply(world);
	for (int i = 0; i < 400; i++)
		(void)world_decide(world, world_ask(world));
	assert_in_range(world_running(world, "a", "s1"), 296, 304);
	assert_in_range(world_running(world, "a", "s2"), 96, 104);
}

static void a_failing_replica_does_not_attract(void **state)
{
	uint32_t failing = world_replica(world, "a", "s1")->target->id;
	uint32_t got = 0;

	(void)state;
	world_strategy(world, "least-request");
	world_busy(world, "a", "s2", 2);
	world_busy(world, "a", "s3", 2);
	world_busy(world, "a", "s4", 2);
	for (int i = 0; i < 100; i++) { /* it answers 500 at once */
		struct request request = world_ask(world);
		struct decision decision = world_decide(world, request);
		bool failed = decision.replica->target->id == failing;

		got += failed;
		(void)health_note(world->facts->health,
		                  &(struct report){ .target = decision.replica->target->id,
		                                    .class = failed ? CLASS_FAILURE : CLASS_OK },
		                  world->now);
		world_end(world, request.id);
		world->now += 10 * MSEC;
	}
	assert_in_range(got, 1, 10);
}

static void all_instances_of_a_model_stand_in_the_trace(void **state)
{
	struct decision decision = world_decide(world, world_ask(world));

	(void)state;
	assert_true(decision.levels[0].walked && decision.levels[1].walked);
	assert_int_equal(decision.levels[0].count, 3);
	assert_int_equal(decision.levels[0].standing, 3);
	assert_int_equal(decision.levels[1].count, 4);
	assert_ptr_equal(decision.levels[0].pool[decision.levels[0].chosen].instance,
	                 decision.instance);
	assert_ptr_equal(decision.levels[1].pool[decision.levels[1].chosen].replica,
	                 decision.replica);
	assert_ptr_equal(fleet_replica_of_target(world->facts->fleet, decision.instance,
	                                         decision.replica->target->id),
	                 decision.replica);
}

/* The work of an instance is that of its least loaded replica, not its sum. */
static void by_work_the_instance_with_the_least_loaded_replica_is_chosen(void **state)
{
	struct decision decision;

	(void)state;
	for (size_t i = 0; i < world->count; i++) {
		if (strcmp(world->names[i][0], "b") != 0 || strcmp(world->names[i][1], "s2") != 0)
			world_busy(world, world->names[i][0], world->names[i][1],
			           *world->names[i][0] == 'b' ? 9 : 3);
	}
	decision = world_decide(world, world_ask(world));
	assert_string_equal(decision.instance->name, "b");
	expect_server(&decision, "s2");
	assert_int_equal(decision.levels[0].pool[0].member_count, 4);
}

static void an_instance_given_by_haproxy_is_kept(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct request request = world_ask(world);
		struct decision decision;

		request.backend = SPAN("b");
		decision = world_decide(world, request);
		assert_string_equal(decision.instance->name, "b");
		assert_non_null(decision.replica);
		assert_false(decision.levels[0].walked);
	}
	for (size_t i = 0; i < 4; i++)
		assert_true(world_running(world, "b", world->names[4 + i][1]) == 5);
}

static void an_unknown_backend_is_left_to_haproxy(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	request.backend = SPAN("nobody");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_UNANSWERED);
	assert_int_equal(decision.reason, REASON_NO_CANDIDATE);
	assert_false(decision.slot);
	assert_int_equal(inflight_count(world->facts->inflight), 0);
	assert_int_equal(world->facts->counters->unanswered[REASON_NO_CANDIDATE], 1);
}

static void an_agent_of_level_1_names_no_replica(void **state)
{
	struct request request = world_ask_long(world, 20000, 20000, 1, 1);
	struct decision first, second;

	(void)state;
	world->policy.levels = LEVELS_INSTANCE;
	first = world_decide(world, request);
	assert_int_equal(first.outcome, OUTCOME_ROUTED);
	assert_null(first.replica);
	assert_false(first.levels[1].walked);
	assert_true(ledger_running(world->facts->ledger, first.instance->target->id, world->now) ==
	            1);
	/* It holds the prompt now, whoever computed it. */
	second = world_decide(world, world_ask_long(world, 20000, 20000, 1, 1));
	assert_ptr_equal(second.instance, first.instance);
	assert_int_equal(second.reason, REASON_PREFIX);
	assert_int_equal(second.matched, 16384);
}

static void an_agent_of_level_2_needs_to_be_told_the_instance(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	world->policy.levels = LEVELS_REPLICA;
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_UNANSWERED);
	request = world_ask(world);
	request.backend = SPAN("c");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_string_equal(decision.instance->name, "c");
	assert_non_null(decision.replica);
}

static void a_follow_up_turn_goes_to_its_holder_though_another_has_less(void **state)
{
	struct request request = world_ask_long(world, 60000, 60000, 1, 1);
	struct decision first = world_decide(world, request), second;

	(void)state;
	world_first_byte(world, request.id);
	second = world_decide(world, world_ask_long(world, 64000, 60000, 1, 2));
	assert_ptr_equal(second.replica, first.replica);
	assert_ptr_equal(second.instance, first.instance);
	assert_int_equal(second.reason, REASON_PREFIX);
	assert_true(second.matched >= 49152);
	assert_int_equal(world->facts->counters->of[first.instance->target->id].prefix_hits, 1);
	assert_int_equal(world->facts->counters->of[first.instance->target->id].prefix_misses, 1);
}

static void a_header_may_ask_for_a_recipe_unless_it_is_locked(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	request.strategy = SPAN("Soft_K_Choice");
	decision = world_decide(world, request);
	assert_string_equal(decision.levels[1].strategy->name, "soft-k-choice");
	request = world_ask(world);
	request.strategy = SPAN("nonsense");
	decision = world_decide(world, request);
	assert_string_equal(decision.levels[1].strategy->name, "least-work");
	world->policy.lock_strategy = true;
	request = world_ask(world);
	request.strategy = SPAN("random");
	decision = world_decide(world, request);
	assert_string_equal(decision.levels[1].strategy->name, "least-work");
}

static void a_recipe_without_its_data_is_degraded_not_random(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-kv-cache");
	world_busy(world, "a", "s1", 1);
	world_busy(world, "a", "s2", 2);
	world_busy(world, "a", "s4", 1);
	decision = world_decide(world, world_ask(world));
	expect_server(&decision, "s3");
	assert_true(decision.levels[1].degraded);
	assert_string_equal(decision.levels[1].strategy->name, "least-request");
	assert_true(world->facts->counters->degraded > 0);
}

static void a_policy_is_swapped_between_two_requests(void **state)
{
	static struct policy other;
	struct decision decision;

	(void)state;
	(void)world_decide(world, world_ask(world));
	other = world->policy;
	entry_default_replicas(&other.default_instance.chain[0], strategy_named(SPAN("random")));
	facts_set_policy(world->facts, &other);
	decision = world_decide(world, world_ask(world));
	assert_string_equal(decision.levels[1].strategy->name, "random");
	assert_int_equal(decision.sequence, 2);
	assert_int_equal(inflight_count(world->facts->inflight), 2);
}

#define ONE(name)   cmocka_unit_test_setup_teardown(name, one_instance, end)
#define THREE(name) cmocka_unit_test_setup_teardown(name, three_instances, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ONE(a_request_gets_an_instance_a_replica_and_a_slot),
		ONE(idle_replicas_take_turns),
		ONE(a_burst_spreads_evenly_since_every_choice_is_seen_by_the_next),
		ONE(a_burst_spreads_nearly_evenly_where_chance_decides),
		ONE(every_recipe_takes_a_slot_for_every_decision),
		ONE(weights_divide_load),
		ONE(a_failing_replica_does_not_attract),
		THREE(all_instances_of_a_model_stand_in_the_trace),
		THREE(by_work_the_instance_with_the_least_loaded_replica_is_chosen),
		THREE(an_instance_given_by_haproxy_is_kept),
		THREE(an_unknown_backend_is_left_to_haproxy),
		THREE(an_agent_of_level_1_names_no_replica),
		THREE(an_agent_of_level_2_needs_to_be_told_the_instance),
		THREE(a_follow_up_turn_goes_to_its_holder_though_another_has_less),
		THREE(a_header_may_ask_for_a_recipe_unless_it_is_locked),
		ONE(a_recipe_without_its_data_is_degraded_not_random),
		ONE(a_policy_is_swapped_between_two_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
