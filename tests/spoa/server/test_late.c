/* test_late.c - ids of answers that wait. Proves P024 (its bookkeeping). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/server/late.h"

static struct late_pool pool;

static bool keep(struct late_queue *queue, const char *id, uint64_t end)
{
	return late_keep(&pool, queue, (struct span){ id, strlen(id) }, end, end + 1000);
}

static void expect(struct late_queue *queue, uint64_t written, const char *id)
{
	const struct late_answer *answer = late_take(&pool, queue, written);

	if (!id) {
		assert_null(answer);
		return;
	}
	assert_non_null(answer);
	assert_int_equal(answer->id_length, strlen(id));
	assert_memory_equal(answer->id, id, strlen(id));
	assert_int_equal(answer->read_at, answer->end + 1000);
}

static void answers_leave_in_order_when_their_last_byte_is_written(void **state)
{
	struct late_queue a = { NULL, NULL }, b = { NULL, NULL };

	(void)state;
	assert_true(late_pool_init(&pool, 4));
	assert_true(keep(&a, "u1", 10));
	assert_true(keep(&b, "u2", 5));
	assert_true(keep(&a, "u3", 20));
	expect(&a, 9, NULL);
	expect(&a, 10, "u1");
	expect(&a, 19, NULL);
	expect(&b, UINT64_MAX, "u2");
	expect(&b, UINT64_MAX, NULL);
	expect(&a, 20, "u3");
	expect(&a, UINT64_MAX, NULL);
	assert_null(a.first);
	assert_null(a.last);
	late_pool_done(&pool);
}

static void records_come_back_to_the_pool(void **state)
{
	struct late_queue queue = { NULL, NULL };

	(void)state;
	assert_true(late_pool_init(&pool, 2));
	for (int round = 0; round < 3; round++) {
		assert_true(keep(&queue, "u1", 1));
		assert_true(keep(&queue, "u2", 2));
		assert_false(keep(&queue, "u3", 3)); /* none left */
		expect(&queue, 2, "u1");
		expect(&queue, 2, "u2");
		expect(&queue, 3, NULL);
	}
	late_pool_done(&pool);
}

static void an_id_too_long_is_not_kept(void **state)
{
	struct late_queue queue = { NULL, NULL };
	char id[LATE_ID_MAX + 2];

	(void)state;
	assert_true(late_pool_init(&pool, 2));
	memset(id, 'x', sizeof(id));
	id[LATE_ID_MAX + 1] = '\0';
	assert_false(keep(&queue, id, 1));
	id[LATE_ID_MAX] = '\0';
	assert_true(keep(&queue, id, 1));
	expect(&queue, 1, id);
	late_pool_done(&pool);
}

int main(void)
{
	const struct CMUnitTest lates[] = {
		cmocka_unit_test(answers_leave_in_order_when_their_last_byte_is_written),
		cmocka_unit_test(records_come_back_to_the_pool),
		cmocka_unit_test(an_id_too_long_is_not_kept),
	};

	return cmocka_run_group_tests(lates, NULL, NULL);
}
