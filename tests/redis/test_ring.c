/* test_ring.c - records wait in order, the oldest make place, and what was sent can be sent
 * again until it arrived. Proves R086. */
#include "redis/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_wait_in_order_until_they_are_done),
		cmocka_unit_test(the_oldest_make_place_and_are_counted),
		cmocka_unit_test(a_record_never_wraps),
		cmocka_unit_test(what_is_too_large_is_dropped_itself),
		cmocka_unit_test(a_position_that_is_gone_is_the_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
