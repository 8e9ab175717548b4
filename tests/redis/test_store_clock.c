/* test_store_clock.c - ages are told by the store's own clock, whatever ours says. Proves P058. */
#include "redis/store_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct redis_reply text_of(const char *text)
{
	return (struct redis_reply){ .kind = REDIS_STRING, .text = { text, strlen(text) } };
}

static bool read_time(struct store_clock *clock, const char *seconds, const char *microseconds,
                      usec_t asked, usec_t now)
{
	const struct redis_reply parts[] = { text_of(seconds), text_of(microseconds) };
	const struct redis_reply reply = { .kind = REDIS_ARRAY, .count = 2, .elements = parts };

	return store_clock_read(clock, &reply, asked, now);
}

static void an_entry_is_as_old_as_the_store_says(void **state)
{
	struct store_clock clock = { .known = false };

	(void)state;
	assert_int_equal(store_clock_age(&clock, (struct entry_id){ 1, 0 }, SECOND), 0);
	assert_int_equal(store_clock_ms(&clock, SECOND), 0);
	/* Asked at 10 s, answered at 10.2 s by our clock: it was 1000.5 s there at 10.1 s. */
	assert_true(read_time(&clock, "1000", "500000", 10 * SECOND, 10200 * MSEC));
	assert_int_equal(store_clock_ms(&clock, 10100 * MSEC), 1000500);
	assert_int_equal(store_clock_age(&clock, (struct entry_id){ 1000000, 7 }, 10100 * MSEC),
	                 500 * MSEC);
	assert_int_equal(store_clock_age(&clock, (struct entry_id){ 1000000, 7 }, 11100 * MSEC),
	                 1500 * MSEC);
	/* Of a time to come: the store's clock was set back. */
	assert_int_equal(store_clock_age(&clock, (struct entry_id){ 2000000, 0 }, 11 * SECOND), 0);
}

static void our_clock_may_be_ahead_of_the_stores(void **state)
{
	struct store_clock clock = { .known = false };

	(void)state;
	assert_true(read_time(&clock, "5", "0", 100 * SECOND, 100 * SECOND));
	assert_int_equal(store_clock_ms(&clock, 101 * SECOND), 6000);
	assert_int_equal(store_clock_ms(&clock, 90 * SECOND), 0);
}

static void what_is_no_time_changes_nothing(void **state)
{
	static const char *const bad[][2] = {
		{ "", "0" }, { "1x", "0" },           { "1", "-1" },           { "1", "1000000" },
		{ "1", "" }, { "999999999999", "0" }, { "1234567890123", "0" }
	};
	struct store_clock clock = { .known = true, .ahead = 42 };
	const struct redis_reply nil = { .kind = REDIS_NIL };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(read_time(&clock, bad[i][0], bad[i][1], 0, 0));
	assert_false(store_clock_read(&clock, &nil, 0, 0));
	assert_int_equal(clock.ahead, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_is_as_old_as_the_store_says),
		cmocka_unit_test(our_clock_may_be_ahead_of_the_stores),
		cmocka_unit_test(what_is_no_time_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
