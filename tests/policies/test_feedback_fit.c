/* test_feedback_fit.c - first bytes teach how long the next one will take: which are
 * samples, and of how many tokens. */
#include "tests/policies/sent.h"

static struct ttft_line line_of(struct world *world, uint32_t target)
{
	return ttft_fit_line(world->facts->ttft_fits, world_instance(world, "a"), target);
}

static const struct flight *flight_of(const struct sent *sent)
{
	const struct flight *flight =
	        inflight_find(sent->world->facts->inflight, flight_id_of(sent->id));

	assert_non_null(flight);
	return flight;
}

/* All go to s1. */
static void leave_one(struct world *world)
{
	world_server(world, "a", "s2")->weight = 0;
	world_server(world, "a", "s3")->weight = 0;
	world_apply(world);
}

/* The first waits for itself, the second for both. */
static void a_request_is_behind_those_that_wait(void **state)
{
	struct world *world = *state;
	struct sent one, two;

	leave_one(world);
	one = sent_prompt(world, 1);
	two = send_to(world, world_ask_long(world, 2 * LONG, LONG, 2, 0));
	assert_int_equal(two.chosen, one.chosen);
	assert_near((double)flight_of(&one)->to_compute, LONG / 4);
	assert_near((double)flight_of(&two)->to_compute, 3 * LONG / 4);
	pass(world, 300 * MSEC);
	(void)first_byte(&one, &one.by, 200);
	assert_near((double)flight_of(&one)->fitted.x, LONG / 4);
	assert_near((double)flight_of(&one)->fitted.y, (double)0.3f);
	assert_int_equal(flight_of(&one)->fitted.number, 1);
	assert_int_equal(flight_of(&two)->fitted.number, 0);
}

/* Eight first bytes of s1, at 0.1 s + 1 s per 4000 tokens. */
static void teach(struct world *world)
{
	leave_one(world);
	for (uint64_t i = 1; i <= 8; i++) {
		struct sent sent = send_to(world, world_ask_long(world, 4000 * i, 0, 0, 100 + i));

		pass(world, 100 * MSEC + 250 * MSEC * i);
		(void)first_byte(&sent, &sent.by, 200);
		(void)ends(&sent, "----", 200);
	}
}

static void eight_answers_make_a_line_of_their_own(void **state)
{
	struct world *world = *state;
	uint32_t s1 = world_replica(world, "a", "s1")->target->id;
	uint32_t s2 = world_replica(world, "a", "s2")->target->id;

	teach(world);
	assert_true(line_of(world, s1).trusted);
	assert_true(fabs(ttft_line_ms(line_of(world, s1), 6000) - 1600) < 0.1);
	assert_false(line_of(world, s2).trusted);
	assert_true(fabs(ttft_line_ms(line_of(world, s2), 6000) - 1600) < 0.1);
}

static void who_was_not_chosen_teaches_nothing(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	pass(world, 300 * MSEC);
	(void)first_byte(&sent, &sent.by_other, 200);
	assert_int_equal(flight_of(&sent)->fitted.number, 0);
	sent = sent_prompt(world, 2);
	(void)first_byte(&sent, &sent.by, 500);
	assert_int_equal(flight_of(&sent)->fitted.number, 0);
}

static void an_aborted_stream_teaches_nothing(void **state)
{
	struct world *world = *state;
	struct sent sent;
	double before;

	teach(world);
	sent = sent_prompt(world, 1);
	before = ttft_line_ms(line_of(world, sent.chosen), 6000);
	pass(world, MSEC);
	(void)first_byte(&sent, &sent.by, 200);
	assert_true(fabs(ttft_line_ms(line_of(world, sent.chosen), 6000) - before) > 1);
	(void)ends(&sent, "CD--", 200);
	assert_true(fabs(ttft_line_ms(line_of(world, sent.chosen), 6000) - before) < 0.5);
	assert_int_equal(counted(&sent, sent.chosen)->ttft_predictions, 8);
}

/* By the default line: 0.05 s + 10000 / 8000 s; it took 2.6 s. */
static void how_wrong_the_line_was_is_counted_at_the_end(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);

	pass(world, 2600 * MSEC);
	(void)first_byte(&sent, &sent.by, 200);
	assert_int_equal(counted(&sent, sent.chosen)->ttft_predictions, 0);
	(void)ends(&sent, "----", 200);
	assert_int_equal(counted(&sent, sent.chosen)->ttft_predictions, 1);
	assert_near(counted(&sent, sent.chosen)->ttft_error, 0.5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest fit[] = {
		TEST(a_request_is_behind_those_that_wait),
		TEST(eight_answers_make_a_line_of_their_own),
		TEST(who_was_not_chosen_teaches_nothing),
		TEST(an_aborted_stream_teaches_nothing),
		TEST(how_wrong_the_line_was_is_counted_at_the_end),
	};

	return cmocka_run_group_tests(fit, NULL, NULL);
}
