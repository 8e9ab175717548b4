/* test_decider.c - memory of a decider, and a decision without memory. */
#include "tests/policies/world.h"

static size_t calls, fails_at;
static bool counting;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	if (counting && ++calls == fails_at)
		return NULL;
	return __real_calloc(count, size);
}

static void no_allocation_may_fail_unnoticed(void **state)
{
	struct world *world = world_new(1, 1);
	size_t needed;

	(void)state;
	counting = true;
	calls = fails_at = 0;
	decider_free(decider_new(world->facts, 1));
	needed = calls;
	assert_true(needed > 5);
	for (fails_at = 1; fails_at <= needed; fails_at++) {
		calls = 0;
		assert_null(decider_new(world->facts, 1));
	}
	counting = false;
	decider_free(NULL);
	world_free(world);
}

static void deciding_allocates_nothing(void **state)
{
	struct world *world = world_new(3, 8);

	(void)state;
	world_strategy(world, "global-best");
	counting = true;
	calls = fails_at = 0;
	for (int i = 0; i < 1000; i++)
		(void)world_decide(world, world_ask_long(world, 60000, 9000, 1, (uint64_t)i));
	assert_int_equal(calls, 0);
	counting = false;
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_allocation_may_fail_unnoticed),
		cmocka_unit_test(deciding_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
