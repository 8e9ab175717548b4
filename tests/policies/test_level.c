/* test_level.c - the chain of entries, spill, and who is left. Proves R021, R027, R030, R031,
 * R046, R053; docs/strategies.md. */
#include "tests/policies/world.h"

static struct world *world;
static struct instance_policy *inside;

static int begin(void **state)
{
	(void)state;
	world = world_new(1, 4);
	inside = &world->policy.default_instance;
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static struct entry_policy *add_entry(const char *strategy)
{
	struct entry_policy *entry = &inside->chain[inside->chain_count++];

	entry_default_replicas(entry, strategy_named(SPAN(strategy)));
	return entry;
}

static size_t stage_number(const struct stage *stage)
{
	size_t i = 0;

	while (pipeline_stage(i) != stage)
		i++;
	return i;
}

static const struct stage *dropped_by(const struct decision *decision, const char *server)
{
	const struct level_trace *trace = &decision->levels[1];
	size_t i = 0;

	while (i < trace->count &&
	       strcmp(fleet_replica_name(trace->pool[i].replica, 0), server) != 0)
		i++;
	assert_true(i < trace->count);
	return trace->pool[i].dropped_by;
}

static void the_trace_tells_who_stood_after_each_stage(void **state)
{
	struct decision decision;
	const uint16_t *stood = decision.levels[1].stood;

	(void)state;
	world_strategy(world, "least-request");
	world_server(world, "a", "s1")->maintenance = true;
	world_server(world, "a", "s2")->up = false;
	world_apply(world);
	world_entry(world)->admit.running = 5;
	world_busy(world, "a", "s3", 5);
	decision = world_decide(world, world_ask(world));
	expect_server(&decision, "s4");
	assert_int_equal(stood[stage_number(&stage_collect)], 3);
	assert_int_equal(stood[stage_number(&stage_health)], 2);
	assert_int_equal(stood[stage_number(&stage_prefix)], 2);
	assert_int_equal(stood[stage_number(&stage_admission)], 1);
	assert_int_equal(stood[stage_number(&stage_score)], 1);
	assert_ptr_equal(dropped_by(&decision, "s1"), &stage_collect);
	assert_ptr_equal(dropped_by(&decision, "s2"), &stage_health);
	assert_ptr_equal(dropped_by(&decision, "s3"), &stage_admission);
	assert_null(dropped_by(&decision, "s4"));
	assert_int_equal(decision.levels[1].count, 4);
	assert_int_equal(decision.levels[1].standing, 1);
	assert_int_equal(world->facts->counters->dropped[1][stage_number(&stage_collect)], 1);
	assert_int_equal(world->facts->counters->dropped[1][stage_number(&stage_health)], 1);
	assert_int_equal(world->facts->counters->dropped[1][stage_number(&stage_admission)], 1);
}

static void an_entry_that_admits_nobody_passes_on_to_the_next(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-request");
	world_entry(world)->admit.running = 2;
	add_entry("random")->admit.running = 4;
	world_busy(world, "a", "s1", 5);
	world_busy(world, "a", "s2", 3);
	world_busy(world, "a", "s3", 7);
	world_busy(world, "a", "s4", 9);
	decision = world_decide(world, world_ask(world));
	expect_server(&decision, "s2");
	assert_string_equal(decision.levels[1].strategy->name, "random");
	assert_int_equal(world->facts->counters->chain_miss, 0);
}

static void a_low_score_passes_on_too(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-kv-cache");
	for (uint32_t i = 0; i < 4; i++)
		engines_put(
		        world->facts->engines, world_instance(world, "a")->replicas[i].target->id,
		        &(struct engine_page){
		                .at = world->now, .running = -1, .waiting = -1, .kv_usage = 0.9 });
	world_entry(world)->min_score = 0.2;
	world_busy(world, "a", "s1", 1);
	world_busy(world, "a", "s2", 1);
	world_busy(world, "a", "s4", 1);
	add_entry("least-request");
	decision = world_decide(world, world_ask(world));
	assert_string_equal(decision.levels[1].strategy->name, "least-request");
	expect_server(&decision, "s3");
	world_entry(world)->min_score = 0.1;
	decision = world_decide(world, world_ask(world));
	assert_string_equal(decision.levels[1].strategy->name, "least-kv-cache");
}

static void one_alone_must_be_good_enough_as_well(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-request");
	world_entry(world)->min_score = 0.5;
	world_server(world, "a", "s2")->up = false;
	world_server(world, "a", "s3")->up = false;
	world_server(world, "a", "s4")->up = false;
	world_apply(world);
	decision = world_decide(world, world_ask(world));
	expect_server(&decision, "s1");
	assert_true(decision.levels[1].pool[0].graded == 1);
}

static void what_an_entry_dropped_stands_for_the_next(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-request");
	/* The first admits only the idle one, whose score is then too low. */
	world_entry(world)->admit.running = 1;
	world_entry(world)->min_score = 1;
	world_entry(world)->strategy = strategy_named(SPAN("least-kv-cache"));
	world_busy(world, "a", "s1", 1);
	world_busy(world, "a", "s2", 2);
	world_busy(world, "a", "s3", 3);
	engines_put(world->facts->engines, world_replica(world, "a", "s4")->target->id,
	            &(struct engine_page){
	                    .at = world->now, .running = -1, .waiting = -1, .kv_usage = 0.5 });
	add_entry("least-request");
	decision = world_decide(world, world_ask(world));
	expect_server(&decision, "s4");
	assert_int_equal(decision.levels[1].standing, 4);
}

static void a_chain_that_yields_nobody_is_counted(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-request");
	world_entry(world)->min_score = 1;
	world_entry(world)->strategy = strategy_named(SPAN("random"));
	decision = world_decide(world, world_ask(world));
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_FAIL_OPEN);
	assert_null(decision.replica);
	assert_string_equal(decision.instance->name, "a");
	assert_true(world->facts->counters->chain_miss >= 1);
	assert_int_equal(world->facts->counters->fail_open, 1);
}

static void all_down_is_panic_not_an_outage(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		world->servers[i].up = false;
	world_apply(world);
	request.backend = SPAN("a");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_int_equal(decision.reason, REASON_PANIC);
	assert_non_null(decision.replica);
	assert_int_equal(world->facts->counters->panic, 1);
}

static void who_just_refused_a_connection_is_left_out_for_a_second(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-request");
	world_busy(world, "a", "s2", 3);
	world_busy(world, "a", "s3", 3);
	world_busy(world, "a", "s4", 3);
	(void)health_note(world->facts->health,
	                  &(struct report){ .target = world_replica(world, "a", "s1")->target->id,
	                                    .class = CLASS_FAILURE,
	                                    .connect = true },
	                  world->now);
	decision = world_decide(world, world_ask(world));
	assert_string_not_equal(server_of(&decision), "s1");
	assert_int_equal(decision.reason, REASON_LOAD);
}

/* The turns of one conversation follow its holder; the holder is filled up; the
 * next request of it goes elsewhere, and then there are two holders. */
static void holders_over_their_limits_spill_and_there_are_more_of_them(void **state)
{
	struct decision decision, spilled;
	const char *holder;

	(void)state;
	world_strategy(world, "soft-k-choice");
	world_entry(world)->admit.running = 2;
	world_entry(world)->seed_idle = false;
	decision = world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
	holder = server_of(&decision);
	assert_int_equal(decision.reason, REASON_LOAD);
	for (int i = 0; i < 3; i++) { /* 5 with it: 2 x 2.5 for who holds nearly all of it */
		decision = world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
		expect_server(&decision, holder);
		assert_int_equal(decision.reason, REASON_PREFIX);
		assert_true(decision.matched > 16000);
	}
	spilled = world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
	assert_int_equal(spilled.outcome, OUTCOME_ROUTED);
	assert_string_not_equal(server_of(&spilled), holder);
	assert_int_equal(spilled.reason, REASON_SPILL);
	assert_int_equal(world->facts->counters->spilled, 1);
	decision = world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
	expect_server(&decision, server_of(&spilled));
	assert_int_equal(decision.reason, REASON_PREFIX);
}

static void when_nobody_else_is_admitted_the_holders_are_asked_again(void **state)
{
	struct decision decision;
	const char *holder;

	(void)state;
	world_strategy(world, "soft-k-choice");
	world_entry(world)->seed_idle = false;
	decision = world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
	holder = server_of(&decision);
	world_entry(world)->admit.running = 10;
	for (size_t i = 0; i < 4; i++)
		world_busy(world, "a", world->names[i][1],
		           strcmp(world->names[i][1], holder) == 0 ? 19 : 10);
	/* The holder leads by 10, more than its prefix is worth; the others are full. */
	decision = world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
	expect_server(&decision, holder);
	assert_int_equal(decision.reason, REASON_PREFIX);
}

static void a_shared_prompt_is_computed_once_on_each_idle_replica(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "soft-k-choice");
	for (uint64_t i = 0; i < 4; i++) {
		struct request request = world_ask_long(world, 40000, 16384, 1, 10 + i);

		decision = world_decide(world, request);
		assert_int_equal(decision.reason, i == 0 ? REASON_LOAD : REASON_SEED);
		world_first_byte(world, request.id);
		world_end(world, request.id);
	}
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(prefix_index_held(
		                         world->facts->prefix,
		                         world_replica(world, "a", world->names[i][1])->target->id),
		                 12);
	assert_int_equal(world->facts->counters->seeded, 3);
}

static void the_gate_says_so(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "power-of-two");
	world_busy(world, "a", "s1", 12);
	world_busy(world, "a", "s2", 3);
	world_busy(world, "a", "s3", 4);
	world_busy(world, "a", "s4", 3);
	for (int i = 0; i < 2; i++) {
		decision = world_decide(world, world_ask(world));
		assert_int_equal(decision.reason, REASON_GATE);
		assert_true(strcmp(server_of(&decision), "s2") == 0 ||
		            strcmp(server_of(&decision), "s4") == 0);
	}
}

/* 12, 3, 4, 3 fires; it holds at a gap of 4 and ends below. */
static void the_gate_holds_over_requests(void **state)
{
	struct decision decision;

	(void)state;
	world_strategy(world, "least-request");
	world_busy(world, "a", "s1", 12);
	for (int i = 0; i < 100; i++) {
		double least = 1e9;

		for (size_t s = 0; s < 4; s++) {
			double running = world_running(world, "a", world->names[s][1]);

			least = running < least ? running : least;
		}
		decision = world_decide(world, world_ask(world));
		assert_int_equal(decision.reason, 12 - least >= 4 ? REASON_GATE : REASON_LOAD);
		if (least > 10)
			break;
	}
}

/* The next entry would take the holder, which has less; but others are admitted there. */
static void spilled_holders_come_last_in_every_entry(void **state)
{
	struct decision decision;
	const char *holder;

	(void)state;
	world_strategy(world, "soft-k-choice");
	world_entry(world)->admit.running = 2;
	world_entry(world)->seed_idle = false;
	add_entry("least-request");
	decision = world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
	holder = server_of(&decision);
	for (size_t i = 0; i < 4; i++)
		world_busy(world, "a", world->names[i][1],
		           strcmp(world->names[i][1], holder) == 0 ? 4 : 6);
	decision = world_decide(world, world_ask_long(world, 20000, 20000, 7, 7));
	assert_string_not_equal(server_of(&decision), holder);
	assert_int_equal(decision.reason, REASON_SPILL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_trace_tells_who_stood_after_each_stage),
		TEST(an_entry_that_admits_nobody_passes_on_to_the_next),
		TEST(a_low_score_passes_on_too),
		TEST(one_alone_must_be_good_enough_as_well),
		TEST(what_an_entry_dropped_stands_for_the_next),
		TEST(a_chain_that_yields_nobody_is_counted),
		TEST(all_down_is_panic_not_an_outage),
		TEST(who_just_refused_a_connection_is_left_out_for_a_second),
		TEST(holders_over_their_limits_spill_and_there_are_more_of_them),
		TEST(when_nobody_else_is_admitted_the_holders_are_asked_again),
		TEST(a_shared_prompt_is_computed_once_on_each_idle_replica),
		TEST(the_gate_says_so),
		TEST(the_gate_holds_over_requests),
		TEST(spilled_holders_come_last_in_every_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
