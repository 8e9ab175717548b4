/* test_missing.c - requests that ended without an end line are found by HAProxy's
 * own counts. Proves R110, P053, B024. */
#include "tests/policies/sent.h"

enum { TARGETS = 64 };

static uint32_t looks(struct world *world, const uint32_t counted[TARGETS])
{
	uint32_t scratch[TARGETS];

	pass(world, 500 * MSEC);
	return feedback_missing(world->facts, counted, scratch, TARGETS, world->now);
}

static void counts_of(const struct sent *sent, uint32_t sessions, uint32_t ret_counted[TARGETS])
{
	for (int i = 0; i < TARGETS; i++)
		ret_counted[i] = COUNT_UNKNOWN;
	ret_counted[sent->chosen] = sessions;
}

static void what_is_missing_three_times_is_released(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	uint32_t counted[TARGETS];

	counts_of(&sent, 0, counted);
	pass(world, MISSING_AGE);
	assert_int_equal(looks(world, counted), 0);
	assert_int_equal(looks(world, counted), 0);
	assert_int_equal(running_at(world, sent.chosen), 1);
	assert_int_equal(looks(world, counted), 1);
	assert_idle(world);
	assert_int_equal(world->facts->counters->of[sent.chosen].released[RELEASED_SESSIONS], 1);
	assert_int_equal(held_by(world, sent.chosen), 0); /* nobody answered: nothing is bound */
	assert_true(ends(&sent, "----", 200).duplicate);
	assert_idle(world);
}

static void a_young_request_is_not_missing(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	uint32_t counted[TARGETS];
	uint32_t scratch[TARGETS];

	counts_of(&sent, 0, counted);
	pass(world, MISSING_AGE - 1);
	for (int i = 0; i < 5; i++)
		assert_int_equal(
		        feedback_missing(world->facts, counted, scratch, TARGETS, world->now), 0);
	assert_int_equal(running_at(world, sent.chosen), 1);
	(void)ends(&sent, "----", 200);
}

static void who_is_counted_again_starts_anew(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	uint32_t counted[TARGETS];

	pass(world, MISSING_AGE);
	for (int i = 0; i < 6; i++) {
		counts_of(&sent, i % 3 == 2, counted);
		assert_int_equal(looks(world, counted), 0);
	}
	assert_int_equal(running_at(world, sent.chosen), 1);
	(void)ends(&sent, "----", 200);
}

static void without_a_count_nothing_is_missing(void **state)
{
	struct world *world = *state;
	struct sent sent = sent_prompt(world, 1);
	uint32_t counted[TARGETS];

	counts_of(&sent, COUNT_UNKNOWN, counted);
	pass(world, MISSING_AGE);
	for (int i = 0; i < 5; i++)
		assert_int_equal(looks(world, counted), 0);
	assert_int_equal(running_at(world, sent.chosen), 1);
	(void)ends(&sent, "----", 200);
}

static void one_without_a_first_byte_is_the_likelier_one(void **state)
{
	struct world *world = *state;
	struct sent streaming = sent_prompt(world, 1);
	struct sent silent;
	uint32_t counted[TARGETS];

	(void)first_byte(&streaming, &streaming.by, 200);
	silent = sent_prompt(world, 1); /* the holder of the prompt gets it, too */
	assert_int_equal(silent.chosen, streaming.chosen);
	counts_of(&streaming, 1, counted);
	pass(world, MISSING_AGE);
	for (int i = 0; i < 3; i++)
		(void)looks(world, counted);
	assert_int_equal(running_at(world, silent.chosen), 1);
	assert_true(ends(&silent, "----", 200).duplicate);
	assert_true(ends(&streaming, "----", 200).known);
	assert_idle(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_missing_three_times_is_released, open_world,
		                                close_world),
		cmocka_unit_test_setup_teardown(a_young_request_is_not_missing, open_world,
		                                close_world),
		cmocka_unit_test_setup_teardown(who_is_counted_again_starts_anew, open_world,
		                                close_world),
		cmocka_unit_test_setup_teardown(without_a_count_nothing_is_missing, open_world,
		                                close_world),
		cmocka_unit_test_setup_teardown(one_without_a_first_byte_is_the_likelier_one,
		                                open_world, close_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
