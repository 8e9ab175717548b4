/* test_slo.c - objectives choose, pull, refuse and order. Proves R155, R156, R157, R158.
 *
 * Until it learns, a line of time to first token says 50 ms and 8000 tokens/s: so many
 * waiting tokens give the predicted times of these examples. */
#include "tests/policies/world.h"

static double waiting_for(double predicted_ms)
{
	return (predicted_ms - 50) * 8;
}

static uint32_t id_of(const struct world *world, const char *server)
{
	return world_replica(world, "a", server)->target->id;
}

/* Three replicas that would give a first token after so many ms. */
static struct world *predicted(const char *strategy, double ms1, double ms2, double ms3)
{
	static const char *const servers[] = { "s1", "s2", "s3" };
	const double ms[] = { ms1, ms2, ms3 };
	struct world *world = world_new(1, 3);

	world_strategy(world, strategy);
	world->policy.queue.objectives.ttft_ms = 1000;
	for (size_t i = 0; i < 3; i++)
		(void)ledger_acquire(world->facts->ledger, id_of(world, servers[i]),
		                     (uint32_t)waiting_for(ms[i]), 0, world->now);
	return world;
}

/* Its own samples say what was assumed. */
static void learn_line(struct world *world, const char *server)
{
	for (int x = 0; x < 8; x++)
		(void)ttft_fit_add(world->facts->ttft_fits, world_instance(world, "a"),
		                   id_of(world, server), 1000 * x, 0.05 + x / 8.0);
}

static struct decision decided(struct world *world)
{
	return world_decide(world, world_ask(world));
}

static void expect_choice(const char *strategy, const double ms[3], const char *server)
{
	struct world *world = predicted(strategy, ms[0], ms[1], ms[2]);
	struct decision decision = decided(world);

	expect_server(&decision, server);
	assert_false(decision.levels[1].degraded);
	world_free(world);
}

static void in_time_the_least_loaded_or_the_fullest_with_a_tenth_to_spare(void **state)
{
	static const double ms[] = { 600, 900, 1500 };

	(void)state;
	expect_choice("slo-least-load", ms, "s1");
	expect_choice("slo-pack-load", ms, "s2");
	expect_choice("slo-least-load-pulling", ms, "s1");
	expect_choice("slo", ms, "s1");
}

static void less_than_a_tenth_to_spare_is_packed_last(void **state)
{
	static const double tight[] = { 910, 500, 1100 }, none[] = { 1100, 950, 990 };

	(void)state;
	expect_choice("slo-pack-load", tight, "s2");
	expect_choice("slo-pack-load", none, "s2");
}

static void too_late_for_all_is_the_smallest_miss(void **state)
{
	static const double ms[] = { 1500, 1800, 1300 }, far[] = { 9000, 7000, 8000 };

	(void)state;
	expect_choice("slo-least-load", ms, "s3");
	expect_choice("slo-pack-load", ms, "s3");
	expect_choice("slo-least-load", far, "s2");
}

static void expect_late(struct world *world, const struct decision *decision)
{
	assert_int_equal(decision->outcome, OUTCOME_ROUTED);
	assert_int_equal(decision->reason, REASON_LATE);
	assert_non_null(decision->instance);
	assert_null(decision->replica);
	assert_true(decision->slot);
	world_free(world);
}

static void too_late_for_all_pulls_the_request_from_haproxys_queue(void **state)
{
	struct world *world = predicted("slo-least-load-pulling", 1500, 1800, 1300);
	struct decision decision = decided(world);

	(void)state;
	expect_late(world, &decision);
	world = predicted("slo-least-load-pulling", 1000, 1800, 1300); /* just in time */
	decision = decided(world);
	expect_server(&decision, "s1");
	world_free(world);
}

static void an_instance_that_haproxy_chose_is_pulled_from_as_well(void **state)
{
	struct world *world = predicted("slo-least-load-pulling", 1500, 1800, 1300);
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	request.backend = SPAN("a");
	decision = world_decide(world, request);
	expect_late(world, &decision);
}

static void far_too_late_by_predictions_to_be_trusted_is_refused(void **state)
{
	struct world *world = predicted("slo-least-load-pulling", 2100, 2400, 2600);
	struct decision decision;

	(void)state;
	learn_line(world, "s1");
	learn_line(world, "s2");
	learn_line(world, "s3");
	decision = decided(world);
	assert_int_equal(decision.reason, REASON_LATE); /* never, if nothing is said */
	world_entry(world)->slo_reject_below = -1;
	decision = decided(world);
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.reason, REASON_OVERLOAD);
	assert_int_equal(decision.status, 429);
	assert_int_equal(decision.retry_after, 2);
	assert_int_equal(decision.priority_offset_ms, 0);
	world_entry(world)->slo_reject_below = -1.11; /* the first is not below it */
	decision = decided(world);
	expect_late(world, &decision);
}

static void one_prediction_not_to_be_trusted_refuses_nobody(void **state)
{
	struct world *world = predicted("slo-least-load-pulling", 2100, 2400, 2600);
	struct decision decision;

	(void)state;
	learn_line(world, "s1");
	learn_line(world, "s3");
	world_entry(world)->slo_reject_below = -1;
	decision = decided(world);
	expect_late(world, &decision);
}

static void without_objectives_the_first_token_counts_and_that_is_said(void **state)
{
	struct world *world = predicted("slo-least-load-pulling", 1500, 1800, 1300);
	struct decision decision;

	(void)state;
	world->policy.queue.objectives.ttft_ms = 0;
	decision = decided(world);
	expect_server(&decision, "s3");
	assert_true(decision.levels[1].degraded);
	assert_string_equal(decision.levels[1].strategy->name, "predicted-ttft");
	world_free(world);
}

/* Nobody holds anything of 11200 bytes: 2800 tokens, 400 ms without a queue. */
static int32_t offset_of(struct world *world)
{
	struct decision decision =
	        world_decide(world, world_ask_long(world, 11200, 0, 1, world->asked + 2));

	return decision.priority_offset_ms;
}

static void the_earliest_deadline_goes_first(void **state)
{
	struct world *world = predicted("slo-least-load", 600, 900, 1500);
	struct objectives *objectives = &world->policy.queue.objectives;

	(void)state;
	assert_int_equal(offset_of(world), 600);
	objectives->ttft_ms = 0;
	assert_int_equal(offset_of(world), 4600);
	objectives->e2e_ms = 30000;
	assert_int_equal(offset_of(world), 29600);
	objectives->e2e_ms = 70000;
	assert_int_equal(offset_of(world), 60000);
	objectives->ttft_ms = 1;
	assert_int_equal(offset_of(world), -399);
	world_strategy(world, "predicted-ttft");
	assert_int_equal(offset_of(world), 0);
	world_free(world);
}

/* The engine's page says how long a token took: 100 of them, so many ms each. */
static void learn_tpot(struct world *world, const char *server, double ms)
{
	struct engine_page page = engine_page_blank(world->now);
	struct growth growth;

	page.token_seconds = page.token_gaps = page.generation_tokens = 0;
	(void)rates_learn(world->facts->rates, id_of(world, server), &page, &growth);
	page.at += SECOND;
	page.token_seconds = ms / 10;
	page.token_gaps = page.generation_tokens = 100;
	assert_true(rates_learn(world->facts->rates, id_of(world, server), &page, &growth));
	world->now = page.at;
}

static void the_worst_of_several_objectives_counts(void **state)
{
	struct world *world = predicted("slo-least-load", 300, 500, 500);
	struct decision decision;

	(void)state;
	learn_tpot(world, "s1", 50);
	world->policy.queue.objectives.tpot_ms = 100;
	decision = decided(world); /* 0.7 and 0.5 against 0.5: s1 is as good as they are */
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	world->policy.queue.objectives.tpot_ms = 90;
	decision = decided(world); /* 0.44 */
	assert_string_not_equal(server_of(&decision), "s1");
	world->policy.queue.objectives.tpot_ms = 0;
	world->policy.queue.objectives.e2e_ms = 13100; /* 300 + 256 x 50 ms: all of it */
	decision = decided(world);
	assert_string_not_equal(server_of(&decision), "s1");
	world_free(world);
}

static void level_1_takes_the_instance_whose_best_is_best(void **state)
{
	struct world *world = world_new(2, 2);
	struct decision decision;

	(void)state;
	world_strategy(world, "slo-least-load");
	world->policy.queue.objectives.ttft_ms = 1000;
	(void)ledger_acquire(world->facts->ledger, id_of(world, "s1"), 4400, 0, world->now);
	(void)ledger_acquire(world->facts->ledger, id_of(world, "s2"), 4400, 0, world->now);
	(void)ledger_acquire(world->facts->ledger, world_replica(world, "b", "s1")->target->id,
	                     40000, 0, world->now);
	decision = decided(world);
	assert_string_equal(decision.instance->name, "b");
	expect_server(&decision, "s2");
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_time_the_least_loaded_or_the_fullest_with_a_tenth_to_spare),
		cmocka_unit_test(less_than_a_tenth_to_spare_is_packed_last),
		cmocka_unit_test(too_late_for_all_is_the_smallest_miss),
		cmocka_unit_test(too_late_for_all_pulls_the_request_from_haproxys_queue),
		cmocka_unit_test(an_instance_that_haproxy_chose_is_pulled_from_as_well),
		cmocka_unit_test(far_too_late_by_predictions_to_be_trusted_is_refused),
		cmocka_unit_test(one_prediction_not_to_be_trusted_refuses_nobody),
		cmocka_unit_test(without_objectives_the_first_token_counts_and_that_is_said),
		cmocka_unit_test(the_earliest_deadline_goes_first),
		cmocka_unit_test(the_worst_of_several_objectives_counts),
		cmocka_unit_test(level_1_takes_the_instance_whose_best_is_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
