/* test_inflight.c - open requests, and those that ended. Proves R110, P020, P028, P053. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "policies/core/rng.h"
#include "policies/state/inflight.h"
#include "tests/failing_calloc.h"

enum { OPEN = 8, GRAVES = 4 };

static int open_table(void **state)
{
	*state = inflight_new(OPEN, GRAVES, 60 * SECOND);
	return *state ? 0 : -1;
}

static int close_table(void **state)
{
	inflight_free(*state);
	return 0;
}

static struct flight_id id(uint32_t number)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "id-%u", number);

	return flight_id_of((struct span){ text, (size_t)len });
}

static enum inflight_status open_flight(void *table, uint32_t number, usec_t now)
{
	struct flight *flight = NULL;

	return inflight_open(table, id(number), now, &flight);
}

static enum inflight_end end_flight(void *table, uint32_t number, usec_t now)
{
	struct flight flight;

	return inflight_end(table, id(number), now, &flight);
}

static void a_new_record_is_empty_and_found_by_its_id(void **state)
{
	struct flight *flight = NULL;
	struct flight ended;

	assert_int_equal(inflight_open(*state, id(1), 5 * SECOND, &flight), INFLIGHT_OK);
	assert_int_equal(flight->decided_at, 5 * SECOND);
	assert_int_equal(flight->first_byte_at, 0);
	assert_int_equal(flight->chosen, TARGET_NONE);
	assert_int_equal(flight->instance, TARGET_NONE);
	assert_int_equal(flight->replica_slot.target, TARGET_NONE);
	assert_int_equal(flight->instance_slot.target, TARGET_NONE);
	flight->chosen = 42;
	assert_ptr_equal(inflight_find(*state, id(1)), flight);
	assert_null(inflight_find(*state, id(2)));
	assert_int_equal(inflight_end(*state, id(1), SECOND, &ended), INFLIGHT_END_OPEN);
	assert_int_equal(ended.chosen, 42);
	assert_null(inflight_find(*state, id(1)));
	assert_int_equal(inflight_count(*state), 0);
}

static void the_same_id_is_open_once(void **state)
{
	assert_int_equal(open_flight(*state, 1, 0), INFLIGHT_OK);
	assert_int_equal(open_flight(*state, 1, 0), INFLIGHT_OPEN);
	assert_int_equal(inflight_count(*state), 1);
}

static void a_second_end_is_a_duplicate(void **state)
{
	(void)open_flight(*state, 1, 0);
	assert_int_equal(end_flight(*state, 1, SECOND), INFLIGHT_END_OPEN);
	assert_int_equal(end_flight(*state, 1, 2 * SECOND), INFLIGHT_END_DUPLICATE);
	assert_true(inflight_ended(*state, id(1), 2 * SECOND));
	assert_false(inflight_ended(*state, id(2), 2 * SECOND));
}

static void a_decision_after_its_end_takes_no_slot(void **state)
{
	assert_int_equal(end_flight(*state, 1, 0), INFLIGHT_END_UNKNOWN);
	assert_int_equal(open_flight(*state, 1, 60 * SECOND), INFLIGHT_ENDED);
	assert_int_equal(open_flight(*state, 1, 60 * SECOND + 1), INFLIGHT_OK);
}

static void the_oldest_tombstone_makes_room(void **state)
{
	for (uint32_t i = 0; i <= GRAVES; i++)
		assert_int_equal(end_flight(*state, i, 0), INFLIGHT_END_UNKNOWN);
	assert_int_equal(open_flight(*state, 0, SECOND), INFLIGHT_OK);
	for (uint32_t i = 1; i <= GRAVES; i++)
		assert_int_equal(open_flight(*state, i, SECOND), INFLIGHT_ENDED);
}

static void an_id_that_ends_again_after_a_minute_is_new(void **state)
{
	assert_int_equal(end_flight(*state, 1, 0), INFLIGHT_END_UNKNOWN);
	assert_int_equal(end_flight(*state, 1, 100 * SECOND), INFLIGHT_END_UNKNOWN);
	assert_int_equal(end_flight(*state, 1, 110 * SECOND), INFLIGHT_END_DUPLICATE);
	for (uint32_t i = 2; i < 10; i++)
		(void)end_flight(*state, i, 110 * SECOND);
	assert_int_equal(open_flight(*state, 1, 110 * SECOND), INFLIGHT_OK);
}

static void a_full_table_says_so_and_takes_more_later(void **state)
{
	for (uint32_t i = 0; i < OPEN; i++)
		assert_int_equal(open_flight(*state, i, 0), INFLIGHT_OK);
	assert_int_equal(open_flight(*state, 99, 0), INFLIGHT_FULL);
	assert_int_equal(inflight_count(*state), inflight_capacity(*state));
	assert_int_equal(end_flight(*state, 3, 0), INFLIGHT_END_OPEN);
	assert_int_equal(open_flight(*state, 99, 0), INFLIGHT_OK);
	assert_non_null(inflight_find(*state, id(99)));
	assert_null(inflight_find(*state, id(3)));
}

struct visits {
	struct inflight *table;
	uint32_t count;
	usec_t last;
};

static void end_visited(void *data, const struct flight *flight)
{
	struct visits *visits = data;
	struct flight ended;

	assert_true(flight->decided_at >= visits->last);
	visits->last = flight->decided_at;
	visits->count++;
	assert_int_equal(inflight_end(visits->table, flight->id, 100 * SECOND, &ended),
	                 INFLIGHT_END_OPEN);
}

static void the_oldest_are_visited_first_and_may_be_ended(void **state)
{
	struct visits visits = { .table = *state };

	for (uint32_t i = 0; i < OPEN; i++)
		(void)open_flight(*state, i, i * SECOND);
	(void)end_flight(*state, 0, 0); /* from either end, and in the middle */
	(void)end_flight(*state, 7, 0);
	(void)end_flight(*state, 4, 0);
	inflight_older(*state, 3 * SECOND, 100, end_visited, &visits);
	assert_int_equal(visits.count, 2);
	inflight_older(*state, UINT64_MAX, 1, end_visited, &visits);
	assert_int_equal(visits.count, 3);
	assert_int_equal(inflight_count(*state), 2);
	inflight_older(*state, UINT64_MAX, UINT32_MAX, end_visited, &visits);
	assert_int_equal(visits.count, 5);
	assert_int_equal(inflight_count(*state), 0);
}

struct seen {
	int count;
	usec_t last;
};

static void see(void *data, const struct flight *flight)
{
	struct seen *seen = data;

	assert_true(flight->decided_at > seen->last); /* ascending, so none twice */
	seen->last = flight->decided_at;
	seen->count++;
}

static void the_order_of_age_survives_ends_at_both_sides_and_amid(void **state)
{
	struct seen seen = { 0, 0 };

	for (uint32_t i = 1; i <= 5; i++)
		assert_int_equal(open_flight(*state, i, i * SECOND), INFLIGHT_OK);
	assert_int_equal(end_flight(*state, 5, 6 * SECOND), INFLIGHT_END_OPEN);
	assert_int_equal(end_flight(*state, 3, 6 * SECOND), INFLIGHT_END_OPEN);
	assert_int_equal(end_flight(*state, 1, 6 * SECOND), INFLIGHT_END_OPEN);
	assert_int_equal(open_flight(*state, 6, 7 * SECOND), INFLIGHT_OK);
	assert_int_equal(open_flight(*state, 7, 8 * SECOND), INFLIGHT_OK);
	inflight_older(*state, UINT64_MAX, 100, see, &seen);
	assert_int_equal(seen.count, 4);
	assert_true(seen.last == 8 * SECOND);
}

/* Property: what was opened is open or ended, whatever the order. */
static void a_million_random_steps_agree_with_a_plain_table(void **state)
{
	enum { IDS = 3000, STEPS = 1000000 };
	static bool open[IDS];
	struct inflight *table = inflight_new(1000, 512, 0);
	struct rng rng = { 3 };
	uint32_t count = 0;
	usec_t now = 1;

	(void)state;
	assert_non_null(table);
	for (int i = 0; i < STEPS; i++) {
		uint32_t number = (uint32_t)(rng_next(&rng) % IDS);

		now++; /* no tombstone lives that long */
		assert_int_equal(inflight_find(table, id(number)) != NULL, open[number]);
		if (open[number]) {
			assert_int_equal(end_flight(table, number, now), INFLIGHT_END_OPEN);
			open[number] = false;
			count--;
		} else if (count == 1000) {
			assert_int_equal(open_flight(table, number, now), INFLIGHT_FULL);
		} else {
			assert_int_equal(open_flight(table, number, now), INFLIGHT_OK);
			open[number] = true;
			count++;
		}
		assert_int_equal(inflight_count(table), count);
	}
	inflight_free(table);
}

static void without_memory_there_is_no_table_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 5; i++) {
		failing = i;
		assert_null(inflight_new(OPEN, GRAVES, SECOND));
	}
	assert_int_equal(failing, 0);
	inflight_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_table, close_table)

int main(void)
{
	const struct CMUnitTest inflight[] = {
		TEST(a_new_record_is_empty_and_found_by_its_id),
		TEST(the_same_id_is_open_once),
		TEST(a_second_end_is_a_duplicate),
		TEST(a_decision_after_its_end_takes_no_slot),
		TEST(the_oldest_tombstone_makes_room),
		TEST(an_id_that_ends_again_after_a_minute_is_new),
		TEST(a_full_table_says_so_and_takes_more_later),
		TEST(the_oldest_are_visited_first_and_may_be_ended),
		TEST(the_order_of_age_survives_ends_at_both_sides_and_amid),
		TEST(a_million_random_steps_agree_with_a_plain_table),
		TEST(without_memory_there_is_no_table_and_no_leak),
	};

	return cmocka_run_group_tests(inflight, NULL, NULL);
}
