/* test_feedback_bindings.c - which answers leave a prompt bound to whom.
 * Proves R055, B017, P024, P071. */
#include "tests/policies/sent.h"

static void a_binding_is_confirmed_by_its_first_byte(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	assert_int_equal(held_by(world, sent.chosen), 12);
	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "----", 200);
	assert_int_equal(held_by(world, sent.chosen), 12);
	pass(world, 60 * SECOND); /* a provisional one would be gone */
	assert_int_equal(sent_prompt(world, 1).chosen, sent.chosen);
	assert_int_equal(world->facts->counters->of[sent.instance].prefix_hits, 1);
}

static void a_failed_prompt_leaves_no_binding(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	(void)ends(&sent, "----", 500);
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_int_equal(prefix_index_counts(world->facts->prefix).evicted_failed, 0);
}

static struct sent on_a_hit(struct world *world)
{
	struct sent first = sent_prompt(world, 1);
	struct sent hit;

	(void)first_byte(&first, &first.by, 200);
	(void)ends(&first, "----", 200);
	hit = sent_prompt(world, 1);
	assert_int_equal(hit.chosen, first.chosen);
	return hit;
}

static void a_failure_of_a_hit_takes_the_whole_binding(void **state)
{
	struct world *world = *state;
	struct sent sent = on_a_hit(world);

	(void)ends(&sent, "----", 500);
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_int_equal(prefix_index_counts(world->facts->prefix).evicted_failed, 12);
}

static void a_redispatched_hit_takes_it_too(void **state)
{
	struct world *world = *state;
	struct sent sent = on_a_hit(world);
	struct stream_end end = end_of(&sent, "----", 200);

	end.by = sent.by_other;
	end.retries = 1;
	(void)tell(&sent, &end);
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_int_equal(held_by(world, sent.other), 12);
}

static void a_redispatched_miss_leaves_what_others_confirmed(void **state)
{
	struct world *world = *state;
	struct sent first = sent_prompt(world, 1), sent;
	struct stream_end end;

	(void)first_byte(&first, &first.by, 200);
	(void)ends(&first, "----", 200);
	world->policy.prefix.min_match = 1e9; /* nobody's match is a hit any more */
	for (sent = sent_prompt(world, 1); sent.chosen != first.chosen;
	     sent = sent_prompt(world, 1))
		(void)ends(&sent, "----", 200);
	end = end_of(&sent, "----", 200);
	end.by = sent.by_other;
	end.retries = 1;
	(void)tell(&sent, &end);
	assert_int_equal(held_by(world, sent.chosen), 12);
}

static void busy_answers_and_aborts_leave_what_is_confirmed(void **state)
{
	struct world *world = *state;
	struct sent sent = on_a_hit(world);
	struct stream_end end = end_of(&sent, "----", 503);

	end.retry_after = 7;
	assert_int_equal(tell(&sent, &end).class, CLASS_BUSY);
	assert_int_equal(held_by(world, sent.chosen), 12);
	assert_true(health_backing_off(world->facts->health, sent.chosen, world->now + 6 * SECOND));
	assert_false(
	        health_backing_off(world->facts->health, sent.chosen, world->now + 7 * SECOND));
	pass(world, 10 * SECOND);
	sent = sent_prompt(world, 1);
	(void)ends(&sent, "CH--", 400);
	assert_int_equal(held_by(world, sent.chosen), 12);
}

static void who_serves_instead_gets_the_binding(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	(void)first_byte(&sent, &sent.by_other, 200);
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_int_equal(held_by(world, sent.other), 12);
}

static void a_json_answer_confirms_at_its_end_without_a_sample(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	pass(world, SECOND);
	assert_near(ends(&sent, "----", 200).e2e_ms, 1000);
	assert_near(ttft_of(world, sent.chosen), -1);
	assert_near(e2e_of(world, sent.chosen), 1000);
	pass(world, 60 * SECOND);
	assert_int_equal(sent_prompt(world, 1).chosen, sent.chosen);
	assert_int_equal(world->facts->counters->of[sent.instance].prefix_hits, 1);
}

static void an_answer_that_was_not_applied_leaves_no_binding(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct stream_end end = end_of(&sent, "----", 200);

	end.applied = false;
	end.by = sent.by_other;
	(void)tell(&sent, &end);
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_int_equal(held_by(world, sent.other), 0);
	assert_int_equal(counted(&sent, sent.other)->responses[2], 1);
	assert_idle(world);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest feedback[] = {
		TEST(a_binding_is_confirmed_by_its_first_byte),
		TEST(a_failed_prompt_leaves_no_binding),
		TEST(a_failure_of_a_hit_takes_the_whole_binding),
		TEST(a_redispatched_hit_takes_it_too),
		TEST(a_redispatched_miss_leaves_what_others_confirmed),
		TEST(busy_answers_and_aborts_leave_what_is_confirmed),
		TEST(who_serves_instead_gets_the_binding),
		TEST(a_json_answer_confirms_at_its_end_without_a_sample),
		TEST(an_answer_that_was_not_applied_leaves_no_binding),
	};

	return cmocka_run_group_tests(feedback, NULL, NULL);
}
