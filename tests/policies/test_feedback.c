/* test_feedback.c - the way back: every slot is released once, on every path, at
 * the target where it is. Proves R110, R111, R113, P022, P024, P027, P028, P035,
 * P053, P114. */
#include "tests/policies/sent.h"

static void a_stream_is_held_until_it_ends(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct feedback feedback;

	assert_int_equal(running_at(world, sent.chosen), 1);
	assert_int_equal(running_at(world, sent.instance), 1);
	assert_true(work_at(world, sent.chosen).prefill_tokens > 0);
	pass(world, 300 * MSEC);
	feedback = first_byte(&sent, &sent.by, 200);
	assert_true(feedback.known && !feedback.moved && !feedback.duplicate);
	assert_int_equal(feedback.target, sent.chosen);
	assert_int_equal(feedback.chosen, sent.chosen);
	assert_near(feedback.ttft_ms, 300);
	assert_int_equal(work_at(world, sent.chosen).awaiting, 0);
	assert_int_equal(work_at(world, sent.chosen).prefill_tokens, 0);
	assert_int_equal(work_at(world, sent.instance).awaiting, 0);
	assert_int_equal(running_at(world, sent.chosen), 1);
	assert_near(ttft_of(world, sent.chosen), 300);
	assert_near(ttft_of(world, sent.instance), 300);
	assert_int_equal(counted(&sent, sent.chosen)->ttft.counts[9], 0); /* not yet */
	pass(world, 700 * MSEC);
	feedback = ends(&sent, "----", 200);
	assert_true(feedback.known && !feedback.expired);
	assert_int_equal(feedback.class, CLASS_OK);
	assert_int_equal(feedback.termination, TERM_COMPLETE);
	assert_near(feedback.ttft_ms, 300); /* said again, for the record */
	assert_near(feedback.e2e_ms, 1000);
	assert_near(e2e_of(world, sent.chosen), 1000);
	assert_near(e2e_of(world, sent.instance), 1000);
	assert_idle(world);
	assert_int_equal(counted(&sent, sent.chosen)->released[RELEASED_LOG], 1);
	assert_int_equal(counted(&sent, sent.instance)->released[RELEASED_LOG], 1);
	assert_int_equal(counted(&sent, sent.chosen)->responses[2], 1);
	assert_int_equal(counted(&sent, sent.instance)->responses[2], 1);
	assert_int_equal(counted(&sent, sent.chosen)->terminations[TERM_COMPLETE], 1);
	assert_near(counted(&sent, sent.chosen)->ttft.sum, 0.3);
	assert_near(counted(&sent, sent.chosen)->e2e.sum, 1);
	assert_int_equal(inflight_count(world->facts->inflight), 0);
}

static void the_same_line_twice_releases_once(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct sent twin = sent_prompt(world, 2);

	(void)first_byte(&sent, &sent.by, 200);
	assert_false(ends(&sent, "----", 200).duplicate);
	assert_true(ends(&sent, "----", 200).duplicate);
	assert_int_equal(world->facts->counters->ends_duplicate, 1);
	assert_int_equal(counted(&sent, sent.chosen)->responses[2], 1);
	assert_int_equal(running_at(world, twin.chosen), 1); /* whoever it is */
	assert_int_equal(running_at(world, sent.instance), 1);
	(void)ends(&twin, "----", 200);
	assert_idle(world);
}

static void a_first_byte_counts_once(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	pass(world, 100 * MSEC);
	assert_false(first_byte(&sent, &sent.by, 200).duplicate);
	pass(world, 900 * MSEC);
	assert_true(first_byte(&sent, &sent.by_other, 200).duplicate);
	assert_near(ttft_of(world, sent.chosen), 100);
	assert_int_equal(running_at(world, sent.chosen), 1);
	(void)ends(&sent, "----", 200);
	assert_true(first_byte(&sent, &sent.by, 200).duplicate); /* after its end */
	assert_int_equal(world->facts->counters->adopted, 0);
	assert_idle(world);
}

static void an_end_before_its_decision_takes_no_slot(void **state)
{
	struct world *world = *state;
	struct sent sent = { .world = world, .id = SPAN("early") };
	struct request request = { .id = SPAN("early") };

	assert_false(ends(&sent, "CH--", 400).known);
	assert_int_equal(world->facts->counters->ends_unknown, 1);
	assert_false(world_decide(world, request).slot);
	assert_int_equal(world->facts->counters->ended_before_decision, 1);
	assert_idle(world);
}

static void a_request_is_known_by_its_id_alone(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct sent stranger = sent;

	stranger.id = SPAN("somebody-else");
	assert_false(ends(&stranger, "----", 200).known);
	assert_int_equal(running_at(world, sent.chosen), 1);
	assert_true(ends(&sent, "----", 200).known);
	assert_idle(world);
}

static void the_slot_moves_to_the_server_that_serves(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct feedback feedback;
	struct stream_end end = end_of(&sent, "----", 200);

	pass(world, 100 * MSEC);
	feedback = first_byte(&sent, &sent.by_other, 200);
	assert_true(feedback.moved);
	assert_int_equal(feedback.target, sent.other);
	assert_true(feedback.ttft_ms < 0); /* it says nothing of either */
	assert_int_equal(running_at(world, sent.chosen), 0);
	assert_int_equal(running_at(world, sent.other), 1);
	assert_int_equal(running_at(world, sent.instance), 1);
	assert_int_equal(counted(&sent, sent.other)->moved, 1);
	assert_near(ttft_of(world, sent.other), -1);
	end.by = sent.by_other;
	end.redispatched = true;
	feedback = tell(&sent, &end);
	assert_true(feedback.moved && feedback.known);
	assert_true(feedback.e2e_ms < 0);
	assert_int_equal(counted(&sent, sent.chosen)->pin_overridden[PIN_MAXQUEUE], 1);
	assert_int_equal(counted(&sent, sent.other)->responses[2], 1);
	assert_int_equal(counted(&sent, sent.chosen)->responses[2], 0);
	assert_idle(world);
}

static void an_override_has_a_cause(void **state)
{
	const struct {
		uint32_t retries;
		bool redispatched, applied;
		enum pin_cause cause;
	} cases[] = {
		{ 1, true, true, PIN_REDISPATCH }, { 2, false, true, PIN_REDISPATCH },
		{ 0, true, true, PIN_MAXQUEUE },   { 0, false, true, PIN_IGNORED },
		{ 1, true, false, PIN_IGNORED },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sent sent = sent_prompt(*state, 100 + i);
		struct stream_end end = end_of(&sent, "----", 200);
		uint64_t before = counted(&sent, sent.chosen)->pin_overridden[cases[i].cause];

		end.by = sent.by_other;
		end.retries = cases[i].retries;
		end.redispatched = cases[i].redispatched;
		end.applied = cases[i].applied;
		(void)tell(&sent, &end);
		assert_int_equal(counted(&sent, sent.chosen)->pin_overridden[cases[i].cause],
		                 before + 1);
		assert_idle(*state);
		pass(*state, 2 * SECOND);
	}
}

static void an_abort_in_the_queue_releases(void **state)
{
	const char *const ways[] = { "CQ--", "CH--", "CC--", "CR--" };

	for (size_t i = 0; i < COUNT(ways); i++) {
		struct sent sent = sent_prompt(*state, 10 + i);

		assert_true(ends(&sent, ways[i], -1).known);
		assert_idle(*state);
		assert_int_equal(held_by(*state, sent.chosen), 0);
		assert_int_equal(counted(&sent, sent.chosen)->responses[0] > 0, true);
	}
}

static void nobody_served(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct stream_end end = end_of(&sent, "SC--", 503);

	end.by = (struct served){ .backend = SPAN("a") };
	assert_int_equal(tell(&sent, &end).class, CLASS_LOCAL);
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_near(health_failures(world->facts->health, sent.chosen, world->now), 0);
	assert_idle(world);
}

static void a_first_byte_that_names_nobody_is_of_the_chosen(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	const struct served nobody = { .source = 0 };

	pass(world, 100 * MSEC);
	assert_int_equal(first_byte(&sent, &nobody, 200).target, sent.chosen);
	assert_near(ttft_of(world, sent.chosen), 100);
	assert_int_equal(work_at(world, sent.chosen).awaiting, 0);
}

static void a_name_is_enough_without_an_address(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	sent.by_other.address = (struct span){ NULL, 0 };
	assert_int_equal(first_byte(&sent, &sent.by_other, 200).target, sent.other);
	assert_int_equal(running_at(world, sent.other), 1);
}

static void an_unpinned_request_lands_on_who_serves(void **state)
{
	struct world *world = *state;
	struct facts *facts = world->facts;
	const struct instance *a = world_instance(world, "a");
	struct sent sent = { .world = world, .id = SPAN("free") };
	struct flight *flight = NULL;
	uint32_t replica = a->replicas[2].target->id;

	assert_int_equal(inflight_open(facts->inflight, flight_id_of(sent.id), world->now, &flight),
	                 INFLIGHT_OK);
	flight->instance = a->target->id;
	flight->instance_slot = ledger_acquire(facts->ledger, a->target->id, 500, 700, world->now);
	sent.by = served_by(a, &a->replicas[2]);
	pass(world, 250 * MSEC);
	assert_false(first_byte(&sent, &sent.by, 200).moved);
	assert_int_equal(running_at(world, replica), 1);
	assert_int_equal(work_at(world, replica).resident_tokens, 700);
	assert_int_equal(work_at(world, replica).prefill_tokens, 0);
	assert_near(ttft_of(world, replica), 250);
	(void)ends(&sent, "----", 200);
	assert_idle(world);
}

/* Its place in the snapshot. */
static size_t server_at(const struct world *world, struct span address)
{
	size_t i = 0;

	while (i < world->count - 1 && memcmp(world->names[i][2], address.at, address.len) != 0)
		i++;
	return i;
}

static void a_slot_with_another_engine_owes_nothing_to_the_old(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	size_t at = server_at(world, sent.by.address);
	struct feedback feedback;

	sent.by.address = world->servers[at].address; /* the fleet's own is about to change */
	world->servers[at].address = SPAN("127.0.0.1:1");
	world_apply(world);
	world->servers[at].address = SPAN("10.9.9.9:8000");
	pass(world, SECOND);
	world_apply(world);
	assert_string_equal(fleet_target(world->facts->fleet, sent.chosen)->label,
	                    "10.9.9.9:8000"); /* the id is used again */
	feedback = ends(&sent, "----", 500);
	assert_int_equal(feedback.target, TARGET_NONE);
	assert_int_equal(feedback.chosen, TARGET_NONE);
	for (uint32_t i = 0; i < fleet_targets_max(world->facts->fleet); i++)
		assert_near(health_failures(world->facts->health, i, world->now), 0);
	assert_idle(world);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest feedback[] = {
		TEST(a_stream_is_held_until_it_ends),
		TEST(the_same_line_twice_releases_once),
		TEST(a_first_byte_counts_once),
		TEST(an_end_before_its_decision_takes_no_slot),
		TEST(a_request_is_known_by_its_id_alone),
		TEST(the_slot_moves_to_the_server_that_serves),
		TEST(an_override_has_a_cause),
		TEST(an_abort_in_the_queue_releases),
		TEST(nobody_served),
		TEST(a_first_byte_that_names_nobody_is_of_the_chosen),
		TEST(a_name_is_enough_without_an_address),
		TEST(an_unpinned_request_lands_on_who_serves),
		TEST(a_slot_with_another_engine_owes_nothing_to_the_old),
	};

	return cmocka_run_group_tests(feedback, NULL, NULL);
}
