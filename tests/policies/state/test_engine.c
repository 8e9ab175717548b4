/* test_engine.c - engine pages and their age. Proves R102 in part, strategies.md 1.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/engine.h"

static int failing;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return failing > 0 && --failing == 0 ? NULL : __real_calloc(count, size);
}

static int open_engines(void **state)
{
	*state = engines_new(2);
	return *state ? 0 : -1;
}

static int close_engines(void **state)
{
	engines_free(*state);
	return 0;
}

static void a_page_is_good_until_it_is_too_old(void **state)
{
	struct engine_page page = { .at = 10 * SECOND, .waiting = 3, .kv_usage = -1 };

	assert_null(engines_page(*state, 0, 10 * SECOND, 3 * SECOND));
	assert_null(engines_page(*state, 0, 10 * SECOND, 0));
	engines_put(*state, 0, &page);
	assert_non_null(engines_page(*state, 0, 13 * SECOND, 3 * SECOND));
	assert_true(engines_page(*state, 0, 13 * SECOND, 3 * SECOND)->waiting == 3);
	assert_null(engines_page(*state, 0, 13 * SECOND + 1, 3 * SECOND));
	assert_non_null(engines_page(*state, 0, 1000 * SECOND, 0));
	assert_null(engines_page(*state, 1, 10 * SECOND, 0));
}

static void a_new_page_replaces_all_of_the_old(void **state)
{
	engines_put(*state, 0, &(struct engine_page){ .at = 1, .waiting = 3, .running = 4 });
	engines_put(*state, 0, &(struct engine_page){ .at = 2, .waiting = -1, .running = 5 });
	assert_true(engines_page(*state, 0, 2, 0)->waiting < 0);
	assert_true(engines_page(*state, 0, 2, 0)->running == 5);
}

static void the_queue_has_an_age_of_its_own(void **state)
{
	double queued = 9;

	assert_false(engines_queue(*state, 1, SECOND, 0, &queued));
	assert_true(queued == 9);
	engines_put_queue(*state, 1, 2, SECOND);
	assert_true(engines_queue(*state, 1, 4 * SECOND, 3 * SECOND, &queued));
	assert_true(queued == 2);
	assert_false(engines_queue(*state, 1, 4 * SECOND + 1, 3 * SECOND, &queued));
}

static void what_we_sent_is_counted(void **state)
{
	uint64_t acquired;
	uint64_t first_bytes;

	engines_count_acquired(*state, 0);
	engines_count_acquired(*state, 0);
	engines_count_first_byte(*state, 0);
	engines_counts(*state, 0, &acquired, &first_bytes);
	assert_int_equal(acquired, 2);
	assert_int_equal(first_bytes, 1);
	engines_counts(*state, 1, &acquired, &first_bytes);
	assert_int_equal(acquired + first_bytes, 0);
	engines_forget(*state, 0);
	engines_counts(*state, 0, &acquired, &first_bytes);
	assert_int_equal(acquired + first_bytes, 0);
}

static void without_memory_there_are_none_and_no_leak(void **state)
{
	(void)state;
	for (int i = 1; i <= 2; i++) {
		failing = i;
		assert_null(engines_new(2));
	}
	assert_int_equal(failing, 0);
	engines_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_engines, close_engines)

int main(void)
{
	const struct CMUnitTest engine[] = {
		TEST(a_page_is_good_until_it_is_too_old),
		TEST(a_new_page_replaces_all_of_the_old),
		TEST(the_queue_has_an_age_of_its_own),
		TEST(what_we_sent_is_counted),
		TEST(without_memory_there_are_none_and_no_leak),
	};

	return cmocka_run_group_tests(engine, NULL, NULL);
}
