/* test_recent.c - the cost of what was sent lately, kept while somebody asks. Proves R153. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/state/recent.h"

static struct recent *recent;

static int begin(void **state)
{
	(void)state;
	recent = recent_new(3);
	return recent ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	recent_free(recent);
	return 0;
}

static void expect(uint32_t target, usec_t now, double seconds)
{
	double off = recent_cost(recent, target, now) - seconds;

	assert_true(off < 1e-6 && off > -1e-6);
}

static void it_fades_with_180_s(void **state)
{
	(void)state;
	expect(1, 5 * SECOND, 0);
	recent_add(recent, 1, 2, 10 * SECOND);
	expect(1, 10 * SECOND, 2);
	expect(1, 190 * SECOND, 2 * 0.36787944);
	recent_add(recent, 1, 1, 190 * SECOND);
	expect(1, 190 * SECOND, 1 + 2 * 0.36787944);
	expect(0, 190 * SECOND, 0);
	expect(2, 190 * SECOND, 0);
}

static void a_forgotten_target_has_cost_nothing(void **state)
{
	(void)state;
	recent_add(recent, 0, 2, SECOND);
	recent_add(recent, 1, 2, SECOND);
	recent_forget(recent, 0);
	expect(0, SECOND, 0);
	expect(1, SECOND, 2);
}

static void it_is_wanted_for_ten_minutes(void **state)
{
	(void)state;
	assert_false(recent_wanted(recent, SECOND));
	recent_want(recent, 10 * SECOND);
	assert_true(recent_wanted(recent, 10 * SECOND));
	assert_true(recent_wanted(recent, 609 * SECOND));
	assert_false(recent_wanted(recent, 610 * SECOND));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_fades_with_180_s),
		TEST(a_forgotten_target_has_cost_nothing),
		TEST(it_is_wanted_for_ten_minutes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
