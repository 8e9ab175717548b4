/* test_measure.c - loads that compare, and what is held. Proves P059, P076, R024, R056,
 * R108; docs/strategies.md. */
#include "policies/ejection.h"
#include "policies/signals/signals.h"
#include "tests/policies/world.h"

static struct world *world;

static int begin(void **state)
{
	(void)state;
	world = world_new(1, 4);
	world->policy.levels = LEVELS_REPLICA;
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static const struct candidate *of(const struct decision *decision, const char *server)
{
	const struct level_trace *trace = &decision->levels[1];
	size_t i = 0;

	while (i < trace->count &&
	       strcmp(fleet_replica_name(trace->pool[i].replica, 0), server) != 0)
		i++;
	assert_true(i < trace->count);
	return &trace->pool[i];
}

static struct decision explain(struct request request)
{
	struct decision decision;

	request.backend = SPAN("a");
	decider_explain(world->decider, &request, world->now, &decision);
	return decision;
}

static void close_to(double value, double expected)
{
	assert_true(value - expected < 1e-6 && expected - value < 1e-6);
}

static uint32_t id_of(const char *server)
{
	return world_replica(world, "a", server)->target->id;
}

static void loads_are_divided_by_the_relative_weight(void **state)
{
	struct decision decision;

	(void)state;
	world_server(world, "a", "s1")->weight = 3;
	world_apply(world);
	world_busy(world, "a", "s1", 6);
	world_busy(world, "a", "s2", 2);
	decision = explain(world_ask(world));
	/* Mean weight 1.5: relative weights 2 and 2/3. */
	close_to(of(&decision, "s1")->running, 6);
	close_to(of(&decision, "s1")->running_scored, 3);
	close_to(of(&decision, "s2")->running_scored, 3);
	close_to(of(&decision, "s3")->running_scored, 0);
}

static void failures_are_charged_as_requests(void **state)
{
	struct decision decision;

	(void)state;
	for (size_t i = 1; i < 4; i++)
		world_busy(world, "a", world->names[i][1], 8);
	world_busy(world, "a", "s1", 8);
	for (int i = 0; i < 3; i++)
		(void)health_note(world->facts->health,
		                  &(struct report){ .target = id_of("s1"), .class = CLASS_FAILURE },
		                  world->now);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->running, 8);
	close_to(of(&decision, "s1")->running_scored, 8 + 0.6 * 18);
	close_to(of(&decision, "s1")->load->failures, 0.6);
	close_to(of(&decision, "s2")->running_scored, 8);
}

/* 10.9: loads 10 to 15 and a new one, 60 s of 300 ago. */
static void who_is_new_counts_as_busy_as_the_idlest(void **state)
{
	struct health *health = world->facts->health;
	struct decision decision;

	(void)state;
	world_busy(world, "a", "s2", 10);
	world_busy(world, "a", "s3", 12);
	world_busy(world, "a", "s4", 11);
	health_welcome(health, id_of("s1"), world->now - 60 * SECOND);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->running, 0);
	close_to(of(&decision, "s1")->running_scored, 8);
	close_to(of(&decision, "s2")->running_scored, 10);
	health_welcome(health, id_of("s1"), world->now - 50 * SECOND);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->running_scored, 8); /* of 8.33 */
	for (int i = 0; i < 25; i++)
		health_first_byte(health, id_of("s1"), 0, world->now);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->running_scored, 5);
	for (int i = 0; i < 25; i++)
		health_first_byte(health, id_of("s1"), 0, world->now);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->running_scored, 0);
}

static void where_all_are_new_nobody_is_charged(void **state)
{
	struct decision decision;

	(void)state;
	world_busy(world, "a", "s2", 10);
	for (size_t i = 0; i < 4; i++)
		health_welcome(world->facts->health, id_of(world->names[i][1]), world->now);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->running_scored, 0);
	close_to(of(&decision, "s2")->running_scored, 10);
}

/* A start is no ramp; a fifth that comes later has one, and so has one that restarted. */
static void only_who_comes_to_others_ramps(void **state)
{
	struct decision decision;

	(void)state;
	world->policy.health.stall_after = 0;
	for (size_t i = 0; i < 4; i++)
		world_busy(world, "a", world->names[i][1], 10);
	ejection_look(world->facts, world->now);
	assert_false(health_any_ramping(world->facts->health, world->now));
	world->now += 100 * SECOND;
	facts_engine_restarted(world->facts, id_of("s1"), world->now);
	ejection_look(world->facts, world->now);
	assert_int_equal(health_state(world->facts->health, id_of("s1"), world->now), HEALTH_RAMP);
	assert_int_equal(health_state(world->facts->health, id_of("s2"), world->now), HEALTH_UP);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->running_scored, 20);
	world->now += 300 * SECOND;
	assert_int_equal(health_state(world->facts->health, id_of("s1"), world->now), HEALTH_UP);
	world->policy.health.ramp = 0;
	facts_engine_restarted(world->facts, id_of("s3"), world->now);
	ejection_look(world->facts, world->now);
	assert_int_equal(health_state(world->facts->health, id_of("s3"), world->now), HEALTH_UP);
}

static void tokens_are_waiting_prefill_and_a_part_of_what_is_resident(void **state)
{
	struct decision decision;
	struct slot slot =
	        ledger_acquire(world->facts->ledger, id_of("s2"), 1000, 2256, world->now);

	(void)state;
	decision = explain(world_ask(world));
	close_to(of(&decision, "s2")->tokens, 1676.8);
	close_to(of(&decision, "s2")->prefill_tokens, 1000);
	ledger_first_byte(world->facts->ledger, &slot, world->now);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s2")->tokens, 676.8);
	close_to(of(&decision, "s2")->prefill_tokens, 0);
}

/* A: 4000 + 3 x 1000 + 3 x 1000. B: 3 x 9000. */
static void work_is_what_stands_before_the_first_token(void **state)
{
	struct request request = world_ask_long(world, 36000, 36000, 1, 1);
	struct decision decision;
	struct walk walk = { .entry = world_entry(world) };
	struct candidate a = { .prefill_tokens = 4000,
		               .uncached_tokens = 1000,
		               .running_scored = 3 };
	double work;

	(void)state;
	assert_true(signal_work.read(&walk, &a, &work));
	close_to(work, 10000);
	a.prefill_tokens = 22000;
	assert_true(signal_work.read(&walk, &a, &work));
	close_to(work, 28000);
	decision = explain(request);
	walk.entry = world_entry(world);
	assert_true(signal_work.read(&walk, of(&decision, "s1"), &work));
	close_to(work, 27000);
}

static void the_holder_wins_until_too_much_waits_there(void **state)
{
	const uint64_t seen = 32768; /* U 1000 of 36768 bytes */
	uint64_t chain[LADDER_BLOCKS_MAX];
	struct request request = world_ask_long(world, seen + 4000, seen + 4000, 1, 1);
	struct span none = { NULL, 0 }, ladder = SPAN(LADDER_DEFAULT);
	struct decision decision;

	(void)state;
	prefix_chain(NULL, prefix_name_space(&ladder, &none, &none, &none), request.hashes, 11,
	             chain);
	prefix_index_bind(world->facts->prefix, id_of("s1"), chain, 11, &world->policy.ladder,
	                  world->now);
	world_busy(world, "a", "s1", 3);
	(void)ledger_acquire(world->facts->ledger, id_of("s1"), 4000, 0, world->now);
	decision = explain(request);
	assert_int_equal(of(&decision, "s1")->matched, seen);
	close_to(of(&decision, "s1")->uncached_tokens, 1000);
	expect_server(&decision, "s1");
	assert_int_equal(decision.reason, REASON_PREFIX);
	(void)ledger_acquire(world->facts->ledger, id_of("s1"), 20000, 0, world->now);
	decision = explain(request);
	assert_string_not_equal(server_of(&decision), "s1");
	assert_int_equal(decision.reason, REASON_LOAD);
}

static void a_holder_that_is_down_is_no_hit_and_the_next_best_is(void **state)
{
	struct request request = world_ask_long(world, 40000, 40000, 1, 1);
	struct span none = { NULL, 0 }, ladder = SPAN(LADDER_DEFAULT);
	uint64_t chain[LADDER_BLOCKS_MAX];
	struct decision decision;

	(void)state;
	prefix_chain(NULL, prefix_name_space(&ladder, &none, &none, &none), request.hashes, 12,
	             chain);
	prefix_index_bind(world->facts->prefix, id_of("s1"), chain, 12, &world->policy.ladder,
	                  world->now);
	prefix_index_bind(world->facts->prefix, id_of("s2"), chain, 7, &world->policy.ladder,
	                  world->now);
	decision = explain(request);
	expect_server(&decision, "s1");
	world_server(world, "a", "s1")->up = false;
	world_apply(world);
	decision = explain(request);
	expect_server(&decision, "s2");
	assert_int_equal(decision.matched, 16384);
}

static void pending_is_put_right_by_what_happened_since_the_page(void **state)
{
	struct decision decision;
	struct engine_page page = {
		.at = world->now, .running = -1, .waiting = 3, .kv_usage = 0.4
	};

	(void)state;
	engines_put(world->facts->engines, id_of("s1"), &page);
	for (int i = 0; i < 4; i++)
		engines_count_acquired(world->facts->engines, id_of("s1"), 0);
	for (int i = 0; i < 5; i++)
		engines_count_first_byte(world->facts->engines, id_of("s1"));
	engines_put_queue(world->facts->engines, id_of("s2"), 6, world->now);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->load->pending, 2);
	close_to(of(&decision, "s1")->load->kv_usage, 0.4);
	close_to(of(&decision, "s2")->load->pending, 6);
	assert_true(of(&decision, "s2")->load->kv_usage < 0);
	assert_true(of(&decision, "s3")->load->pending < 0);
	engines_put_queue(world->facts->engines, id_of("s1"), 1, world->now);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->load->pending, 3);
	world->now += 3 * SECOND + 1;
	decision = explain(world_ask(world));
	assert_true(of(&decision, "s1")->load->pending < 0);
	assert_true(of(&decision, "s1")->load->kv_usage < 0);
}

static void averages_drift_towards_those_of_the_others(void **state)
{
	struct decision decision;

	(void)state;
	average_add(&averages_of(world->facts->averages, id_of("s1"))->ttft_ms, 1000, 30 * SECOND,
	            world->now);
	world->now += 60 * SECOND;
	average_add(&averages_of(world->facts->averages, id_of("s2"))->ttft_ms, 200, 30 * SECOND,
	            world->now);
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->load->ttft_ms, 600);
	close_to(of(&decision, "s2")->load->ttft_ms, 200);
	assert_true(of(&decision, "s3")->load->ttft_ms < 0);
	assert_true(of(&decision, "s1")->load->e2e_ms < 0);
}

static void an_instance_counts_per_usable_engine(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;
	const struct candidate *instance;

	(void)state;
	world->policy.levels = LEVELS_BOTH;
	world_server(world, "a", "s4")->maintenance = true;
	world_server(world, "a", "s3")->up = false;
	world_apply(world);
	world_busy(world, "a", "s1", 3);
	engines_put_queue(world->facts->engines, id_of("s1"), 8, world->now);
	engines_put_queue(world->facts->engines, id_of("s2"), 4, world->now);
	engines_put_queue(world->facts->engines, id_of("s3"), 90, world->now);
	decider_explain(world->decider, &request, world->now, &decision);
	instance = &decision.levels[0].pool[0];
	assert_int_equal(instance->engines, 2);
	close_to(instance->running, 1.5);
	assert_int_equal(instance->own, 3);
	close_to(instance->load->pending, 6);
}

static void a_lone_average_has_nobody_to_drift_to(void **state)
{
	struct decision decision;

	(void)state;
	average_add(&averages_of(world->facts->averages, id_of("s1"))->ttft_ms, 1000, 30 * SECOND,
	            world->now);
	world->now += 60 * SECOND;
	decision = explain(world_ask(world));
	close_to(of(&decision, "s1")->load->ttft_ms, 1000);
}

static void an_instance_holds_what_its_best_replica_holds(void **state)
{
	struct request request = world_ask_long(world, 40000, 40000, 1, 1);
	struct span none = { NULL, 0 }, ladder = SPAN(LADDER_DEFAULT);
	uint64_t chain[LADDER_BLOCKS_MAX];
	struct decision decision;

	(void)state;
	world->policy.levels = LEVELS_BOTH;
	prefix_chain(NULL, prefix_name_space(&ladder, &none, &none, &none), request.hashes, 12,
	             chain);
	prefix_index_bind(world->facts->prefix, id_of("s1"), chain, 12, &world->policy.ladder,
	                  world->now);
	prefix_index_bind(world->facts->prefix, id_of("s2"), chain, 7, &world->policy.ladder,
	                  world->now);
	decider_explain(world->decider, &request, world->now, &decision);
	assert_int_equal(decision.levels[0].pool[0].blocks, 12);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(loads_are_divided_by_the_relative_weight),
		TEST(failures_are_charged_as_requests),
		TEST(who_is_new_counts_as_busy_as_the_idlest),
		TEST(where_all_are_new_nobody_is_charged),
		TEST(only_who_comes_to_others_ramps),
		TEST(tokens_are_waiting_prefill_and_a_part_of_what_is_resident),
		TEST(work_is_what_stands_before_the_first_token),
		TEST(the_holder_wins_until_too_much_waits_there),
		TEST(a_holder_that_is_down_is_no_hit_and_the_next_best_is),
		TEST(pending_is_put_right_by_what_happened_since_the_page),
		TEST(averages_drift_towards_those_of_the_others),
		TEST(an_instance_counts_per_usable_engine),
		TEST(a_lone_average_has_nobody_to_drift_to),
		TEST(an_instance_holds_what_its_best_replica_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
