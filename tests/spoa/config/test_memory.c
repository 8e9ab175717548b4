/* test_memory.c - a load that finds no memory says so and leaves nothing behind.
 * Proves R013. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/config/arena.h"
#include "spoa/config/policy.h"

static size_t until_failure; /* calls of calloc; 0: never */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	if (until_failure > 0 && --until_failure == 0)
		return NULL;
	return __real_calloc(count, size);
}

static void each_allocation_of_a_load_may_fail(void **state)
{
	static const char text[] = "{\"defaults\": {\"strategy\": {\"signals\": {\"work\": 1}}},"
	                           " \"models\": {\"m\": {\"aliases\": [\"a\"]}},"
	                           " \"instances\": {\"i\": {\"replicas\": {\"r\": {}}}},"
	                           " \"rules\": [{\"instances\": [\"i\"]}]}";
	bool failed = true;

	(void)state;
	for (size_t n = 1; failed; n++) {
		struct problems *problems = problems_new();
		struct policy_file *file;

		assert_non_null(problems);
		until_failure = n;
		file = policy_parse("p", text, sizeof(text) - 1, problems);
		failed = until_failure == 0;
		until_failure = 0;
		assert_int_equal(file == NULL, problems_count(problems, SEVERITY_ERROR) > 0);
		assert_int_equal(file == NULL, failed);
		policy_file_free(file);
		problems_free(problems);
		assert_true(n < 100);
	}
}

static void an_arena_gives_zeroed_pieces_of_any_size(void **state)
{
	struct arena *arena = arena_new();
	unsigned char *large = arena_take(arena, 1, 100000);
	unsigned char *small = arena_take(arena, 3, 7);
	char *text = arena_text(arena, "word and more", 4);

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(large[i], 0);
	for (size_t i = 0; i < 21; i++)
		assert_int_equal(small[i], 0);
	assert_string_equal(text, "word");
	assert_int_equal((uintptr_t)small % _Alignof(max_align_t), 0);
	assert_int_equal((uintptr_t)text % _Alignof(max_align_t), 0);
	memset(large, 1, 100000);
	memset(small, 2, 21);
	for (size_t i = 0; i < 10000; i++)
		memset(arena_take(arena, 1, i % 97), 3, i % 97);
	assert_string_equal(text, "word");
	assert_int_equal(large[99999], 1);
	assert_null(arena_take(arena, SIZE_MAX / 2, 3));
	assert_null(arena_take(arena, 1, SIZE_MAX - 5));
	assert_non_null(arena_take(arena, 0, 8));
	arena_free(arena);
	arena_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_of_a_load_may_fail),
		cmocka_unit_test(an_arena_gives_zeroed_pieces_of_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
