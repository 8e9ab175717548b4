/* test_errors.c - only numbers that HAProxy's check survives. Proves P006. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/spop/errors.h"

static void every_number_is_0_to_13_or_99(void **state)
{
#define AS_NUMBER(id, code, text) SPOP_##id,
	static const int numbers[] = { SPOP_ERRORS(AS_NUMBER) };
#undef AS_NUMBER

	(void)state;
	assert_int_equal(sizeof(numbers) / sizeof(numbers[0]), 15);
	for (int i = 0; i < 14; i++)
		assert_int_equal(numbers[i], i);
	assert_int_equal(numbers[14], 99);
}

static void each_has_its_words(void **state)
{
	(void)state;
	assert_string_equal(spop_error_text(SPOP_NONE), "normal");
	assert_string_equal(spop_error_text(SPOP_TOO_BIG), "frame is too big");
	assert_string_equal(spop_error_text((enum spop_error)77), "unknown error");
}

int main(void)
{
	const struct CMUnitTest errors[] = {
		cmocka_unit_test(every_number_is_0_to_13_or_99),
		cmocka_unit_test(each_has_its_words),
	};

	return cmocka_run_group_tests(errors, NULL, NULL);
}
