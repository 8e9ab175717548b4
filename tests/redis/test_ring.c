/* test_ring.c - records wait in order, the oldest make place, and what was sent can be sent
 * again, until it arrived and after. Proves R086. */
#include "redis/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/rng.h"

static void push(struct ring *ring, uint32_t number, uint32_t size)
{
	char *at = ring_push(ring, size);

	assert_non_null(at);
	assert_int_equal((uintptr_t)at % 8, 0);
	memset(at, (int)number, size);
	memcpy(at, &number, sizeof(number));
}

/* The number of the record at the position; -1: none. Moves on. */
static int next(const struct ring *ring, uint64_t *position)
{
	uint32_t number;
	const void *at = ring_at(ring, *position, position);

	if (!at)
		return -1;
	memcpy(&number, at, sizeof(number));
	return (int)number;
}

static void records_wait_in_order_until_they_are_done(void **state)
{
	struct ring *ring = ring_new(256);
	uint64_t position = 0, first;

	(void)state;
	assert_int_equal(next(ring, &position), -1);
	push(ring, 1, 4);
	push(ring, 2, 40);
	push(ring, 3, 8);
	assert_int_equal(next(ring, &position), 1);
	first = position;
	assert_int_equal(next(ring, &position), 2);
	assert_int_equal(next(ring, &position), 3);
	assert_int_equal(next(ring, &position), -1);
	assert_int_equal(ring_count(ring), 3);
	ring_done(ring, first);
	assert_int_equal(ring_count(ring), 2);
	position = 0;
	assert_int_equal(next(ring, &position), 2);
	ring_done(ring, UINT64_MAX);
	assert_int_equal(ring_count(ring), 0);
	position = 0;
	assert_int_equal(next(ring, &position), -1);
	assert_int_equal(ring_dropped(ring), 0);
	ring_free(ring);
}

static void the_oldest_make_place_and_are_counted(void **state)
{
	struct ring *ring = ring_new(256);
	uint64_t position = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		push(ring, i, 24); /* 32 with its head: eight fit */
	assert_int_equal(ring_count(ring), 8);
	assert_int_equal(ring_dropped(ring), 92);
	for (int i = 92; i < 100; i++)
		assert_int_equal(next(ring, &position), i);
	assert_int_equal(next(ring, &position), -1);
	ring_free(ring);
}

static void a_record_never_wraps(void **state)
{
	uint64_t position = 0;

	(void)state;
	for (uint32_t size = 4; size <= 64; size++) {
		struct ring *ring = ring_new(256);
		uint32_t pushed = 0;

		for (int round = 0; round < 200; round++) {
			uint32_t left;

			push(ring, pushed++, size + (uint32_t)(round * 7) % (65 - size));
			position = 0;
			left = ring_count(ring);
			for (uint32_t i = 0; i < left; i++)
				assert_int_equal(next(ring, &position), (int)(pushed - left + i));
			assert_int_equal(next(ring, &position), -1);
			assert_int_equal(ring_dropped(ring) + left, pushed);
		}
		ring_free(ring);
	}
}

static void what_is_too_large_is_dropped_itself(void **state)
{
	struct ring *ring = ring_new(256);

	(void)state;
	push(ring, 1, 4);
	assert_null(ring_push(ring, 65));
	assert_int_equal(ring_count(ring), 1);
	assert_int_equal(ring_dropped(ring), 1);
	ring_free(ring);
}

/* Where it was sent from may be dropped meanwhile. */
static void a_position_that_is_gone_is_the_oldest(void **state)
{
	struct ring *ring = ring_new(256);
	uint64_t position = 0, old;

	(void)state;
	push(ring, 0, 24);
	push(ring, 1, 24);
	assert_int_equal(next(ring, &position), 0);
	old = position;
	for (uint32_t i = 2; i < 20; i++)
		push(ring, i, 24);
	assert_int_equal(next(ring, &old), 12);
	ring_done(ring, position);
	assert_int_equal(ring_count(ring), 8);
	ring_free(ring);
}

static void what_arrived_waits_again_as_far_as_it_is_still_there(void **state)
{
	struct ring *ring = ring_new(256);
	uint64_t position = 0, arrived;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		push(ring, i, 24);
	assert_int_equal(next(ring, &position), 0);
	assert_int_equal(next(ring, &position), 1);
	ring_done(ring, position);
	arrived = position;
	assert_int_equal(ring_arrived(ring), arrived);
	assert_int_equal(ring_count(ring), 1);
	ring_again(ring);
	assert_int_equal(ring_count(ring), 3);
	assert_int_equal(ring_arrived(ring), arrived);
	position = 0;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(next(ring, &position), i);
		assert_int_equal(position <= arrived, i < 2);
	}
	ring_done(ring, position);
	ring_again(ring);
	ring_again(ring);
	assert_int_equal(ring_count(ring), 3);
	ring_free(ring);
}

/* It makes place before what waits, and is no loss. */
static void what_arrived_makes_place_uncounted(void **state)
{
	struct ring *ring = ring_new(256);
	uint64_t position = 0;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		push(ring, i, 24);
	for (int i = 0; i < 5; i++)
		assert_int_equal(next(ring, &position), i);
	ring_done(ring, position);
	for (uint32_t i = 8; i < 12; i++)
		push(ring, i, 24);
	assert_int_equal(ring_count(ring), 7);
	assert_int_equal(ring_dropped(ring), 0);
	ring_again(ring);
	assert_int_equal(ring_count(ring), 8);
	position = 0;
	assert_int_equal(next(ring, &position), 4);
	push(ring, 12, 24); /* 4 goes: it arrived once */
	assert_int_equal(ring_dropped(ring), 0);
	push(ring, 13, 24); /* 5 goes: it never did */
	assert_int_equal(ring_dropped(ring), 1);
	assert_int_equal(ring_count(ring), 8);
	position = 0;
	assert_int_equal(next(ring, &position), 6);
	ring_free(ring);
}

/* Against a list, over every way to wrap. */
static void any_order_of_all_of_it_is_as_a_list(void **state)
{
	struct rng rng = { 11 };

	(void)state;
	for (int run = 0; run < 50; run++) {
		struct ring *ring = ring_new(256);
		uint32_t pushed = 0, first = 0, oldest = 0; /* numbers */

		for (int step = 0; step < 400; step++) {
			uint64_t position = 0;
			uint32_t what = rng_below(&rng, 10);

			if (what < 5)
				push(ring, pushed++, 4 + rng_below(&rng, 60));
			else if (what < 9) {
				for (uint32_t i = rng_below(&rng, 3); i > 0 && first < pushed; i--)
					assert_int_equal(next(ring, &position), (int)first++);
				ring_done(ring, position);
			} else {
				ring_again(ring);
				position = 0;
				oldest = pushed - ring_count(ring);
				assert_true(oldest <= first);
				first = oldest;
			}
			first = pushed - ring_count(ring) > first ? pushed - ring_count(ring)
			                                          : first;
			assert_int_equal(ring_count(ring), pushed - first);
			position = 0;
			for (uint32_t i = first; i < pushed; i++)
				assert_int_equal(next(ring, &position), (int)i);
			assert_int_equal(next(ring, &position), -1);
		}
		ring_free(ring);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_wait_in_order_until_they_are_done),
		cmocka_unit_test(the_oldest_make_place_and_are_counted),
		cmocka_unit_test(a_record_never_wraps),
		cmocka_unit_test(what_is_too_large_is_dropped_itself),
		cmocka_unit_test(a_position_that_is_gone_is_the_oldest),
		cmocka_unit_test(what_arrived_waits_again_as_far_as_it_is_still_there),
		cmocka_unit_test(what_arrived_makes_place_uncounted),
		cmocka_unit_test(any_order_of_all_of_it_is_as_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
