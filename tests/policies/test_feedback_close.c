/* test_feedback_close.c - requests that nobody decided, or whose end does not come.
 * Proves R110, P022, P024. */
#include "tests/policies/sent.h"

static uint32_t expired;

static void a_late_answer_releases_at_once_and_is_adopted_by_who_serves(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	pass(world, 400 * MSEC);
	feedback_late(world->facts, sent.id, world->now);
	assert_idle(world);
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_int_equal(world->facts->counters->late_answers, 1);
	assert_int_equal(counted(&sent, sent.chosen)->released[RELEASED_LATE], 1);
	assert_false(first_byte(&sent, &sent.by_other, 200).known);
	assert_int_equal(running_at(world, sent.other), 1);
	assert_int_equal(running_at(world, sent.instance), 1);
	assert_near(ttft_of(world, sent.other), -1);
	assert_int_equal(held_by(world, sent.other), 12); /* it did compute the prompt */
	assert_int_equal(held_by(world, sent.chosen), 0);
	assert_false(ends(&sent, "----", 200).known);
	assert_idle(world);
	feedback_late(world->facts, sent.id, world->now);
	assert_int_equal(world->facts->counters->late_answers, 2);
}

/* HAProxy had it in time after all: the stream is ours, and goes on. */
static void an_answer_called_late_after_the_first_byte_was_not(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	(void)first_byte(&sent, &sent.by, 200);
	feedback_late(world->facts, sent.id, world->now);
	assert_int_equal(running_at(world, sent.chosen), 1);
	assert_int_equal(held_by(world, sent.chosen), 12);
	assert_true(ends(&sent, "----", 200).known);
	assert_idle(world);
}

/* Its variables may be gone at the end; what is open is released all the same. */
static void an_end_without_t0_of_what_is_open_releases(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct stream_end end = end_of(&sent, "----", 200);

	end.routed = false;
	assert_true(tell(&sent, &end).known);
	assert_idle(world);
}

static void a_stream_nobody_told_us_of_is_adopted(void **state)
{
	struct world *world = *state;
	const struct instance *a = world_instance(world, "a");
	struct sent sent = { .world = world, .id = SPAN("stranger") };
	struct feedback feedback;

	sent.by = served_by(a, &a->replicas[1]);
	feedback = first_byte(&sent, &sent.by, 200);
	assert_false(feedback.known || feedback.moved);
	assert_true(feedback.ttft_ms < 0);
	assert_int_equal(world->facts->counters->adopted, 1);
	assert_int_equal(world->facts->counters->first_bytes_unknown, 1);
	assert_int_equal(running_at(world, a->replicas[1].target->id), 1);
	assert_int_equal(work_at(world, a->replicas[1].target->id).awaiting, 0);
	assert_int_equal(running_at(world, a->target->id), 1);
	pass(world, SECOND);
	feedback = ends(&sent, "----", 200);
	assert_true(feedback.e2e_ms < 0);
	assert_idle(world);
	assert_int_equal(world->facts->counters->ends_unknown, 0);
}

static void a_first_byte_of_nobody_we_know_is_not_adopted(void **state)
{
	struct world *world = *state;
	struct sent sent = { .world = world, .id = SPAN("stranger") };

	sent.by = (struct served){ .backend = SPAN("web"), .address = SPAN("1.2.3.4:80") };
	(void)first_byte(&sent, &sent.by, 200);
	assert_int_equal(world->facts->counters->adopted, 0);
	assert_int_equal(inflight_count(world->facts->inflight), 0);
}

static void what_never_asked_leaves_no_trace(void **state)
{
	struct world *world = *state;
	struct sent sent = { .world = world, .id = SPAN("page") };
	struct stream_end end = end_of(&sent, "----", 200);

	end.routed = false;
	(void)tell(&sent, &end);
	assert_false(inflight_ended(world->facts->inflight, flight_id_of(sent.id), world->now));
	assert_int_equal(world->facts->counters->ends_unknown, 0);
	assert_int_equal(world->facts->counters->ends, 1);
}

static void a_refusal_is_no_riddle(void **state)
{
	struct world *world = *state;
	struct sent sent = { .world = world, .id = SPAN("refused") };
	struct stream_end end = end_of(&sent, "LR--", 429);

	end.action = SPAN("reject");
	(void)tell(&sent, &end);
	assert_int_equal(world->facts->counters->ends_unknown, 0);
}

static void a_lost_process_takes_its_streams_along(void **state)
{
	struct world *world = *state;
	struct request request = world_ask_long(world, LONG, LONG, 1, 0);
	struct sent mine;
	struct sent other;

	(void)fleet_apply(world->facts->fleet, 1, world->servers, world->count, world->now,
	                  facts_forget, world->facts);
	request.source = 1;
	mine = send_to(world, request);
	other = sent_prompt(world, 2);
	assert_int_equal(feedback_process_gone(world->facts, 1, world->now), 1);
	assert_int_equal(counted(&mine, mine.chosen)->released[RELEASED_PROCESS], 1);
	assert_int_equal(running_at(world, mine.instance), 1);
	assert_true(ends(&mine, "----", 200).duplicate);
	assert_int_equal(feedback_process_gone(world->facts, 1, world->now), 0);
	(void)ends(&other, "----", 200);
	assert_idle(world);
}

static void on_expired(void *data, uint32_t target, uint32_t slots)
{
	(void)data;
	(void)target;
	expired += slots;
}

static void a_stream_without_an_end_expires(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	expired = 0;
	pass(world, 590 * SECOND);
	feedback_sweep(world->facts, world->now, on_expired, NULL);
	assert_int_equal(expired, 0);
	assert_int_equal(inflight_count(world->facts->inflight), 1);
	pass(world, 11 * SECOND);
	feedback_sweep(world->facts, world->now, on_expired, NULL);
	assert_int_equal(expired, 2); /* of the replica, of the instance */
	assert_int_equal(inflight_count(world->facts->inflight), 0);
	assert_int_equal(counted(&sent, sent.chosen)->released[RELEASED_TTL], 1);
	assert_idle(world);
}

static void an_end_after_expiry_takes_nothing_from_others(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	struct feedback feedback;

	pass(world, 601 * SECOND);
	world_busy(world, "a", "s1", 1);
	world_busy(world, "a", "s2", 1);
	world_busy(world, "a", "s3", 1);
	feedback = ends(&sent, "----", 200);
	assert_true(feedback.known && feedback.expired);
	assert_int_equal(running_at(world, sent.chosen), 1);
	assert_int_equal(running_at(world, sent.instance), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest feedback[] = {
		TEST(a_late_answer_releases_at_once_and_is_adopted_by_who_serves),
		TEST(an_answer_called_late_after_the_first_byte_was_not),
		TEST(an_end_without_t0_of_what_is_open_releases),
		TEST(a_stream_nobody_told_us_of_is_adopted),
		TEST(a_first_byte_of_nobody_we_know_is_not_adopted),
		TEST(what_never_asked_leaves_no_trace),
		TEST(a_refusal_is_no_riddle),
		TEST(a_lost_process_takes_its_streams_along),
		TEST(a_stream_without_an_end_expires),
		TEST(an_end_after_expiry_takes_nothing_from_others),
	};

	return cmocka_run_group_tests(feedback, NULL, NULL);
}
