/* test_reserve.c - what a decision leaves behind. Proves R039, R108, P056; docs/strategies.md. */
#include "tests/policies/world.h"

static struct world *world;

static int begin(void **state)
{
	(void)state;
	world = world_new(1, 2);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_free(world);
	return 0;
}

static void slots_on_replica_and_instance_with_their_tokens(void **state)
{
	struct request request = world_ask_long(world, 40000, 40000, 1, 1);
	struct decision decision = world_decide(world, request);
	struct flight *flight = inflight_find(world->facts->inflight, flight_id_of(request.id));
	struct work work;

	(void)state;
	assert_non_null(flight);
	work = ledger_work(world->facts->ledger, decision.replica->target->id, world->now);
	assert_int_equal(work.running, 1);
	assert_int_equal(work.awaiting, 1);
	assert_int_equal(work.prefill_tokens, 10000);
	assert_int_equal(work.resident_tokens, 10256);
	work = ledger_work(world->facts->ledger, decision.instance->target->id, world->now);
	assert_int_equal(work.prefill_tokens, 10000);
	assert_int_equal(flight->chosen, decision.replica->target->id);
	assert_int_equal(flight->instance, decision.instance->target->id);
	assert_int_equal(flight->phase, FLIGHT_DECIDED);
	assert_int_equal(flight->blocks, 12);
	assert_false(flight->hit);
	assert_int_equal(prefix_index_held(world->facts->prefix, flight->chosen), 12);
}

static void what_is_cached_does_not_wait_for_prefill(void **state)
{
	struct decision decision = world_decide(world, world_ask_long(world, 40000, 40000, 1, 1));
	struct request request = world_ask_long(world, 40000, 40000, 1, 1);
	struct engine_page page;

	(void)state;
	decision = world_decide(world, request);
	assert_int_equal(decision.reason, REASON_PREFIX);
	assert_int_equal(ledger_work(world->facts->ledger, decision.replica->target->id, world->now)
	                         .prefill_tokens,
	                 10000 + 784);
	assert_true(inflight_find(world->facts->inflight, flight_id_of(request.id))->hit);
	engines_counts(world->facts->engines, decision.replica->target->id, &page);
	assert_int_equal(page.acquired, 2);
	assert_int_equal(page.acquired_tokens, 10000 + 784);
	assert_int_equal(
	        world->facts->counters->of[decision.replica->target->id].decisions[REASON_PREFIX],
	        1);
	assert_int_equal(world->facts->counters->of[decision.instance->target->id].predicted_tokens,
	                 9216);
}

static void without_an_id_there_is_no_slot(void **state)
{
	struct request request = world_ask(world);
	struct decision decision;

	(void)state;
	request.id = (struct span){ NULL, 0 };
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_false(decision.slot);
	assert_true(ledger_running(world->facts->ledger, decision.replica->target->id,
	                           world->now) == 0);
}

static void a_decision_after_its_end_takes_no_slot(void **state)
{
	struct request request = world_ask(world);
	struct flight flight;

	(void)state;
	assert_int_equal(
	        inflight_end(world->facts->inflight, flight_id_of(request.id), world->now, &flight),
	        INFLIGHT_END_UNKNOWN);
	assert_false(world_decide(world, request).slot);
	assert_int_equal(world->facts->counters->ended_before_decision, 1);
	assert_int_equal(inflight_count(world->facts->inflight), 0);
}

static void asked_twice_it_holds_one_slot(void **state)
{
	struct request request = world_ask(world);

	(void)state;
	assert_true(world_decide(world, request).slot);
	assert_false(world_decide(world, request).slot);
	assert_int_equal(inflight_count(world->facts->inflight), 1);
	assert_true(world_running(world, "a", "s1") + world_running(world, "a", "s2") == 1);
}

static void tokens_are_rounded_not_cut(void **state)
{
	struct decision decision = world_decide(world, world_ask_long(world, 40002, 0, 1, 1));

	(void)state;
	assert_int_equal(ledger_work(world->facts->ledger, decision.replica->target->id, world->now)
	                         .resident_tokens,
	                 10257);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(slots_on_replica_and_instance_with_their_tokens),
		TEST(what_is_cached_does_not_wait_for_prefill),
		TEST(without_an_id_there_is_no_slot),
		TEST(a_decision_after_its_end_takes_no_slot),
		TEST(asked_twice_it_holds_one_slot),
		TEST(tokens_are_rounded_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
