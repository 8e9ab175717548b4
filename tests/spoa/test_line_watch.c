/* test_line_watch.c - the alarm for end lines that do not come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/line_watch.h"

static const usec_t start = 1000 * SECOND;

static void nothing_decided_misses_nothing(void **state)
{
	struct line_watch watch = { 0 };

	(void)state;
	assert_false(line_watch_missing(&watch, 0, start + 3600 * SECOND));
}

static void an_end_that_must_have_been_is_missed_after_a_minute(void **state)
{
	struct line_watch watch = { 0 };

	(void)state;
	line_watch_decided(&watch, start);
	line_watch_decided(&watch, start + 59 * SECOND);
	assert_false(line_watch_missing(&watch, 1, start + 60 * SECOND));
	assert_true(line_watch_missing(&watch, 1, start + 60 * SECOND + 1));
}

static void long_streams_are_no_alarm_while_all_are_open(void **state)
{
	struct line_watch watch = { 0 };

	(void)state;
	line_watch_decided(&watch, start);
	line_watch_decided(&watch, start);
	assert_false(line_watch_missing(&watch, 2, start + 600 * SECOND));
	assert_true(line_watch_missing(&watch, 2, start + 600 * SECOND + 1));
}

static void a_line_begins_the_minute_anew(void **state)
{
	struct line_watch watch = { 0 };

	(void)state;
	line_watch_decided(&watch, start);
	line_watch_line(&watch);
	assert_false(line_watch_missing(&watch, 0, start + 700 * SECOND));
	line_watch_decided(&watch, start + 700 * SECOND);
	assert_false(line_watch_missing(&watch, 0, start + 760 * SECOND));
	assert_true(line_watch_missing(&watch, 0, start + 761 * SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_decided_misses_nothing),
		cmocka_unit_test(an_end_that_must_have_been_is_missed_after_a_minute),
		cmocka_unit_test(long_streams_are_no_alarm_while_all_are_open),
		cmocka_unit_test(a_line_begins_the_minute_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
