/* test_near.c - which name was meant. Proves P122. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/config/near.h"

static void an_edit_is_a_letter_more_less_other_or_two_swapped(void **state)
{
	(void)state;
	assert_int_equal(near_distance("prefix", "prefix"), 0);
	assert_int_equal(near_distance("prefx", "prefix"), 1);
	assert_int_equal(near_distance("prefixx", "prefix"), 1);
	assert_int_equal(near_distance("prefox", "prefix"), 1);
	assert_int_equal(near_distance("perfix", "prefix"), 1);
	assert_int_equal(near_distance("ca", "abc"), 3);
	assert_int_equal(near_distance("", "abc"), 3);
	assert_int_equal(near_distance("kitten", "sitting"), 3);
	assert_int_equal(near_distance("Max_Running", "max-running"), 0);
}

static void what_is_too_long_is_far(void **state)
{
	char text[66];

	(void)state;
	memset(text, 'a', 65);
	text[65] = '\0';
	assert_true(near_distance(text, "a") == SIZE_MAX);
	assert_true(near_distance("a", text) == SIZE_MAX);
	text[64] = '\0';
	assert_int_equal(near_distance(text, "a"), 63);
}

static void assert_meant(const char *wanted, const char *name, const char *hint)
{
	struct near near = near_to(wanted);
	char said[NEAR_HINT_MAX];

	near_offer(&near, name);
	near_hint(&near, said);
	assert_string_equal(said, hint);
}

static void near_is_two_edits_or_a_third_of_the_length(void **state)
{
	(void)state;
	assert_meant("weigth", "weight", " (did you mean \"weight\"?)");
	assert_meant("wiegth", "weight", " (did you mean \"weight\"?)");
	assert_meant("wixgth", "weight", "");
	assert_meant("least-rekwests", "least-request", " (did you mean \"least-request\"?)");
	assert_meant("lxxxx-request", "least-request", " (did you mean \"least-request\"?)");
	assert_meant("xxxxx-request", "least-request", "");
	assert_meant("x", "k", "");
	assert_meant("xk", "k", " (did you mean \"k\"?)");
	assert_meant("", "k", "");
}

static void the_nearest_counts_and_of_equals_the_first(void **state)
{
	struct near near = near_to("admin");

	(void)state;
	near_offer(&near, "admire");
	near_offer(&near, "admit");
	near_offer(&near, "admix");
	assert_string_equal(near.best, "admit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_is_a_letter_more_less_other_or_two_swapped),
		cmocka_unit_test(what_is_too_long_is_far),
		cmocka_unit_test(near_is_two_edits_or_a_third_of_the_length),
		cmocka_unit_test(the_nearest_counts_and_of_equals_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
