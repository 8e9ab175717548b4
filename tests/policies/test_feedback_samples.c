/* test_feedback_samples.c - what answers and failures teach of a target.
 * Proves R047, R113, P090, P091. */
#include "tests/policies/sent.h"

static void failing_fast_does_not_look_fast(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct facts *facts = world->facts;

	average_add(&averages_of(facts->averages, sent.other)->ttft_ms, 400, 30 * SECOND,
	            world->now);
	average_add(&averages_of(facts->averages, sent.other)->e2e_ms, 3000, 60 * SECOND,
	            world->now);
	pass(world, MSEC);
	(void)ends(&sent, "----", 500);
	assert_near(ttft_of(world, sent.chosen), 800);
	assert_near(e2e_of(world, sent.chosen), 6000);
	assert_near(ttft_of(world, sent.instance), 2); /* nothing is known of the other instance */
	assert_near(health_failures(facts->health, sent.chosen, world->now), 1.0 / 3);
}

static void a_failing_one_is_measured_by_the_others(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct averages *averages = world->facts->averages;

	average_add(&averages_of(averages, sent.other)->ttft_ms, 400, 30 * SECOND, world->now);
	average_add(&averages_of(averages, sent.chosen)->ttft_ms, 1000, 30 * SECOND, world->now);
	(void)ends(&sent, "----", 500);
	assert_near(ttft_of(world, sent.chosen), 900); /* (1000 + 2 * 400) / 2 */
}

static void a_failure_in_mid_stream_leaves_the_first_byte_alone(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	pass(world, 100 * MSEC);
	(void)first_byte(&sent, &sent.by, 200);
	pass(world, 900 * MSEC);
	assert_int_equal(ends(&sent, "SD--", 200).class, CLASS_FAILURE);
	assert_near(ttft_of(world, sent.chosen), 100);
	assert_near(e2e_of(world, sent.chosen), 2000);
	assert_int_equal(held_by(world, sent.chosen), 0); /* what it held is doubtful */
	assert_idle(world);
}

static void no_first_byte_in_time_counts_against_the_replica(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct feedback feedback;

	pass(world, SECOND);
	feedback = ends(&sent, "sR--", 504);
	assert_int_equal(feedback.class, CLASS_FAILURE);
	assert_int_equal(feedback.termination, TERM_TIMEOUT);
	assert_true(feedback.ttft_ms < 0);
	assert_int_equal(counted(&sent, sent.chosen)->ttft.counts[12], 0);
	assert_idle(world);
}

static void an_aborted_stream_gives_no_sample(void **state)
{
	struct world *world = *state;
	struct sent good = sent_prompt(world, 1);
	struct sent sent;
	struct feedback feedback;
	double before;

	pass(world, 200 * MSEC);
	(void)first_byte(&good, &good.by, 200);
	(void)ends(&good, "----", 200);
	before = ttft_of(world, good.chosen);
	sent = sent_prompt(world, 1); /* follows its prefix */
	assert_int_equal(sent.chosen, good.chosen);
	pass(world, 301 * MSEC);
	(void)first_byte(&sent, &sent.by, 200); /* HAProxy says so at the abort, too */
	assert_true(ttft_of(world, sent.chosen) > before + 1);
	pass(world, MSEC);
	feedback = ends(&sent, "CD--", 200);
	assert_int_equal(feedback.class, CLASS_CLIENT);
	assert_true(feedback.ttft_ms < 0);
	assert_near(ttft_of(world, sent.chosen), before);
	assert_near(ttft_of(world, sent.instance), before);
	assert_near(e2e_of(world, sent.chosen), 200);
	assert_near(counted(&sent, sent.chosen)->ttft.sum, 0.2);
	assert_near(health_failures(world->facts->health, sent.chosen, world->now), 0);
	assert_int_equal(counted(&sent, sent.chosen)->terminations[TERM_CLIENT], 1);
	assert_idle(world);
}

static void an_abort_that_was_the_only_sample_leaves_it_unknown(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	pass(world, 301 * MSEC);
	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "CD--", 200);
	assert_near(ttft_of(world, sent.chosen), -1);
	assert_near(ttft_of(world, sent.instance), -1);
}

static void errors_give_no_sample(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	pass(world, 10 * MSEC);
	(void)first_byte(&sent, &sent.by, 400);
	(void)ends(&sent, "----", 400);
	assert_near(ttft_of(world, sent.chosen), -1);
	assert_near(e2e_of(world, sent.chosen), -1);
	assert_int_equal(counted(&sent, sent.chosen)->responses[4], 1);
	assert_near(health_failures(world->facts->health, sent.chosen, world->now), 0);
}

static void a_retry_is_a_failure_of_the_chosen_one(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct stream_end end = end_of(&sent, "----", 200);

	end.by = sent.by_other;
	end.retries = 1;
	end.redispatched = true;
	(void)tell(&sent, &end);
	assert_true(health_suspect(world->facts->health, sent.chosen, world->now));
	assert_near(health_failures(world->facts->health, sent.chosen, world->now), 1.0 / 3);
	assert_near(health_failures(world->facts->health, sent.other, world->now), 0);
	assert_near(e2e_of(world, sent.other), -1);
}

static void what_took_two_tries_is_no_sample_of_the_second(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct stream_end end = end_of(&sent, "----", 200);

	pass(world, SECOND);
	end.retries = 1; /* at the same server */
	assert_near(tell(&sent, &end).e2e_ms, -1);
	assert_near(e2e_of(world, sent.chosen), -1);
}

static void a_refused_connection_is_one_failure_for_all_tries(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct stream_end end = end_of(&sent, "SC--", 503);

	pass(world, 50 * MSEC);
	end.retries = 2;
	assert_int_equal(tell(&sent, &end).class, CLASS_FAILURE);
	assert_true(health_suspect(world->facts->health, sent.chosen, world->now));
	assert_near(health_failures(world->facts->health, sent.chosen, world->now), 1.0 / 3);
	assert_near(e2e_of(world, sent.chosen), 100); /* twice its time */
	assert_near(ttft_of(world, sent.chosen), 100);
	assert_idle(world);
}

static void health_is_learnt_of_requests_that_others_routed(void **state)
{
	struct world *world = *state;
	const struct instance *a = world_instance(world, "a");
	struct sent sent = { .world = world, .id = SPAN("stranger") };

	sent.by = served_by(a, &a->replicas[1]);
	(void)ends(&sent, "SC--", 503);
	assert_true(health_suspect(world->facts->health, a->replicas[1].target->id, world->now));
	assert_int_equal(world->facts->counters->of[a->replicas[1].target->id].responses[5], 1);
	assert_near(e2e_of(world, a->replicas[1].target->id), -1);
}

static void the_queue_is_measured(void **state)
{
	struct sent sent = sent_prompt(*state, 1);
	struct stream_end end = end_of(&sent, "----", 200);

	end.queue_ms = 1500;
	(void)tell(&sent, &end);
	assert_near(counted(&sent, sent.chosen)->queue.sum, 1.5);
	assert_near(counted(&sent, sent.instance)->queue.sum, 1.5);
}

static void engines_know_what_waits_for_them(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct sent silent;
	struct sent moved;
	struct engine_page page;

	(void)first_byte(&sent, &sent.by, 200);
	(void)ends(&sent, "----", 200);
	silent = sent_prompt(world, 2);
	(void)ends(&silent, "----", 200);
	moved = sent_prompt(world, 3);
	(void)first_byte(&moved, &moved.by_other, 200);
	(void)ends(&moved, "----", 200);
	for (uint32_t i = 0; i < fleet_targets_max(world->facts->fleet); i++) {
		engines_counts(world->facts->engines, i, &page);
		assert_int_equal(page.acquired, page.first_bytes);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest feedback[] = {
		TEST(failing_fast_does_not_look_fast),
		TEST(a_failing_one_is_measured_by_the_others),
		TEST(a_failure_in_mid_stream_leaves_the_first_byte_alone),
		TEST(no_first_byte_in_time_counts_against_the_replica),
		TEST(an_aborted_stream_gives_no_sample),
		TEST(an_abort_that_was_the_only_sample_leaves_it_unknown),
		TEST(errors_give_no_sample),
		TEST(a_retry_is_a_failure_of_the_chosen_one),
		TEST(what_took_two_tries_is_no_sample_of_the_second),
		TEST(a_refused_connection_is_one_failure_for_all_tries),
		TEST(health_is_learnt_of_requests_that_others_routed),
		TEST(the_queue_is_measured),
		TEST(engines_know_what_waits_for_them),
	};

	return cmocka_run_group_tests(feedback, NULL, NULL);
}
