/* test_adapters.c - where adapters were sent, and how hot they are. Proves B064. */
#include "policies/core/target.h"
#include "policies/state/adapters.h"
#include "tests/failing_calloc.h"
#include "tests/near.h"
#include "tests/policies/world.h"

static const usec_t minute = 60 * SECOND;

static int begin(void **state)
{
	*state = adapters_new(3);
	assert_non_null(*state);
	return 0;
}

static int end(void **state)
{
	adapters_free(*state);
	return 0;
}

static void it_is_there_for_a_while(void **state)
{
	struct adapters *adapters = *state;

	assert_false(adapters_resident(adapters, 1, 7, 0, SECOND, minute));
	adapters_sent(adapters, 1, 7, SECOND);
	assert_true(adapters_resident(adapters, 1, 7, 0, SECOND, minute));
	assert_true(adapters_resident(adapters, 1, 7, 0, 61 * SECOND, minute));
	assert_false(adapters_resident(adapters, 1, 7, 0, 61 * SECOND + 1, minute));
	assert_false(adapters_resident(adapters, 1, 8, 0, SECOND, minute));
	assert_false(adapters_resident(adapters, 2, 7, 0, SECOND, minute));
	adapters_sent(adapters, 1, 7, 61 * SECOND);
	assert_true(adapters_resident(adapters, 1, 7, 0, 90 * SECOND, minute));
	assert_false(adapters_resident(adapters, 0, 0, 0, SECOND, minute));
}

static void as_many_are_there_as_there_are_slots(void **state)
{
	struct adapters *adapters = *state;

	for (uint64_t lora = 1; lora <= 4; lora++)
		adapters_sent(adapters, 0, lora, lora * SECOND);
	adapters_sent(adapters, 0, 1, 5 * SECOND); /* the last four: 2, 3, 4, 1 */
	assert_true(adapters_resident(adapters, 0, 1, 1, 6 * SECOND, minute));
	assert_false(adapters_resident(adapters, 0, 4, 1, 6 * SECOND, minute));
	assert_true(adapters_resident(adapters, 0, 4, 2, 6 * SECOND, minute));
	assert_false(adapters_resident(adapters, 0, 2, 3, 6 * SECOND, minute));
	assert_true(adapters_resident(adapters, 0, 2, 4, 6 * SECOND, minute));
}

static void others_that_were_sent_lately_are_counted(void **state)
{
	struct adapters *adapters = *state;

	assert_int_equal(adapters_others(adapters, 0, 7, SECOND, minute), 0);
	for (uint64_t lora = 1; lora <= 3; lora++)
		adapters_sent(adapters, 0, lora, lora * SECOND);
	assert_int_equal(adapters_others(adapters, 0, 7, 61 * SECOND, minute), 3);
	assert_int_equal(adapters_others(adapters, 0, 7, 61 * SECOND + 1, minute), 2);
	assert_int_equal(adapters_others(adapters, 0, 3, 61 * SECOND, minute), 2);
	assert_int_equal(adapters_others(adapters, 1, 7, 61 * SECOND, minute), 0);
}

static void the_oldest_is_forgotten_when_the_list_is_full(void **state)
{
	struct adapters *adapters = *state;

	for (uint64_t lora = 1; lora <= ENGINE_LORAS_MAX + 1; lora++)
		adapters_sent(adapters, 0, lora, lora * SECOND);
	assert_false(adapters_resident(adapters, 0, 1, 0, 40 * SECOND, minute));
	assert_true(adapters_resident(adapters, 0, 2, 0, 40 * SECOND, minute));
	assert_true(adapters_resident(adapters, 0, ENGINE_LORAS_MAX + 1, 0, 40 * SECOND, minute));
}

static void who_fails_may_have_lost_it(void **state)
{
	struct adapters *adapters = *state;

	adapters_sent(adapters, 0, 7, SECOND);
	adapters_sent(adapters, 0, 8, SECOND);
	adapters_lost(adapters, 0, 7);
	adapters_lost(adapters, 1, 8);
	assert_false(adapters_resident(adapters, 0, 7, 0, SECOND, minute));
	assert_true(adapters_resident(adapters, 0, 8, 0, SECOND, minute));
}

/* Requests at 0 s, 0 s, ended at 0 s and 60 s. */
static void heat_rises_at_once_and_halves_every_half_life(void **state)
{
	struct adapters *adapters = *state;
	usec_t now = 1000 * SECOND;

	assert_near(adapters_heat(adapters, 7, 1, now, minute), 0);
	assert_true(adapters_begin(adapters, 7, 1, now, minute));
	assert_true(adapters_begin(adapters, 7, 1, now, minute));
	assert_int_equal(adapters_open(adapters, 7, 1), 2);
	assert_near(adapters_heat(adapters, 7, 1, now, minute), 2);
	assert_near(adapters_heat(adapters, 7, 1, now + 5 * minute, minute), 2);
	adapters_end(adapters, 7, 1, now, minute);
	assert_near(adapters_heat(adapters, 7, 1, now, minute), 2);
	assert_near(adapters_heat(adapters, 7, 1, now + minute / 2, minute), 1.414214);
	assert_near(adapters_heat(adapters, 7, 1, now + minute, minute), 1);
	adapters_end(adapters, 7, 1, now + minute, minute);
	assert_int_equal(adapters_open(adapters, 7, 1), 0);
	assert_near(adapters_heat(adapters, 7, 1, now + 2 * minute, minute), 0.5);
	assert_true(adapters_begin(adapters, 7, 1, now + 2 * minute, minute));
	assert_near(adapters_heat(adapters, 7, 1, now + 2 * minute, minute), 1);
	assert_near(adapters_heat(adapters, 7, 1, now, 0), 1); /* no half-life: what is open */
	assert_near(adapters_heat(adapters, 7, 2, now, minute), 0);
	assert_near(adapters_heat(adapters, 8, 1, now, minute), 0);
}

static void an_end_too_many_is_none(void **state)
{
	struct adapters *adapters = *state;

	adapters_end(adapters, 7, 1, SECOND, minute);
	assert_true(adapters_begin(adapters, 7, 1, SECOND, minute));
	adapters_end(adapters, 7, 1, SECOND, minute);
	adapters_end(adapters, 7, 1, SECOND, minute);
	assert_int_equal(adapters_open(adapters, 7, 1), 0);
}

/* Far more adapters than there are places: who is open stays, who is not makes place. */
static void the_coldest_makes_place_and_nobody_who_is_open(void **state)
{
	struct adapters *adapters = *state;
	uint32_t counted = 0, again = 0;

	for (uint64_t lora = 1; lora <= 4 * ADAPTERS_HOT_MAX; lora++)
		counted += adapters_begin(adapters, lora, 1, SECOND, minute);
	assert_in_range(counted, ADAPTERS_HOT_MAX * 9 / 10, ADAPTERS_HOT_MAX);
	for (uint64_t lora = 1; lora <= 4 * ADAPTERS_HOT_MAX; lora++)
		again += adapters_open(adapters, lora, 1);
	assert_int_equal(again, counted);
	for (uint64_t lora = 1; lora <= 4 * ADAPTERS_HOT_MAX; lora++)
		adapters_end(adapters, lora, 1, SECOND, minute);
	assert_true(adapters_begin(adapters, 1000000, 1, 100 * SECOND, minute));
	assert_true(adapters_begin(adapters, 1000000, 1, 100 * SECOND, minute));
	assert_int_equal(adapters_open(adapters, 1000000, 1), 2);
}

/* Of nine of one set the one whose heat is the oldest goes. */
static void of_the_idle_the_coldest_goes(void **state)
{
	struct adapters *adapters = *state;
	uint64_t kept = 0, total = 200 * 64;

	for (uint64_t lora = 1; lora <= total; lora++) {
		assert_true(adapters_begin(adapters, lora, 1, lora * SECOND, minute));
		adapters_end(adapters, lora, 1, lora * SECOND, minute);
	}
	for (uint64_t lora = total - 1000; lora <= total; lora++)
		kept += adapters_heat(adapters, lora, 1, total * SECOND, minute) > 0;
	assert_true(kept >= 1000);
}

static void a_target_that_starts_anew_has_nothing(void **state)
{
	struct adapters *adapters = *state;

	adapters_sent(adapters, 1, 7, SECOND);
	adapters_sent(adapters, 2, 7, SECOND);
	assert_true(adapters_begin(adapters, 7, 1, SECOND, minute));
	assert_true(adapters_begin(adapters, 7, TARGET_NONE, SECOND, minute));
	adapters_forget(adapters, 1);
	assert_false(adapters_resident(adapters, 1, 7, 0, SECOND, minute));
	assert_true(adapters_resident(adapters, 2, 7, 0, SECOND, minute));
	assert_int_equal(adapters_open(adapters, 7, 1), 0);
	assert_int_equal(adapters_open(adapters, 7, TARGET_NONE), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_there_for_a_while),
		TEST(as_many_are_there_as_there_are_slots),
		TEST(others_that_were_sent_lately_are_counted),
		TEST(the_oldest_is_forgotten_when_the_list_is_full),
		TEST(who_fails_may_have_lost_it),
		TEST(heat_rises_at_once_and_halves_every_half_life),
		TEST(an_end_too_many_is_none),
		TEST(the_coldest_makes_place_and_nobody_who_is_open),
		TEST(of_the_idle_the_coldest_goes),
		TEST(a_target_that_starts_anew_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
