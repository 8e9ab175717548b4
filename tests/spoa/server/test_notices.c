/* test_notices.c - one line a second and kind. Proves P014 (no storm of lines). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/server/notices.h"

static struct {
	int lines, level;
	char text[400];
} seen;

static void on_line(void *data, int level, const char *text)
{
	assert_ptr_equal(data, &seen);
	seen.lines++;
	seen.level = level;
	(void)snprintf(seen.text, sizeof(seen.text), "%s", text);
}

static struct notices fresh(void)
{
	const struct notice_sink sink = { on_line, &seen };
	struct notices notices;

	memset(&seen, 0, sizeof(seen));
	notices_init(&notices, &sink);
	return notices;
}

static void a_kind_is_said_once_a_second(void **state)
{
	struct notices notices = fresh();

	(void)state;
	for (usec_t now = 0; now < SECOND; now += SECOND / 10)
		notices_say(&notices, NOTICE_OF_BAD_FRAME, now, "number %d", 7);
	assert_int_equal(seen.lines, 1);
	assert_string_equal(seen.text, "number 7");
	assert_int_equal(seen.level, NOTICE_WARNING);
	notices_say(&notices, NOTICE_OF_BAD_FRAME, SECOND + 1, "number %d", 8);
	assert_int_equal(seen.lines, 2);
	assert_string_equal(seen.text, "number 8 (and 9 more of this kind)");
	notices_say(&notices, NOTICE_OF_BAD_FRAME, 3 * SECOND, "number %d", 9);
	assert_string_equal(seen.text, "number 9");
}

static void kinds_do_not_hold_each_other_back(void **state)
{
	struct notices notices = fresh();

	(void)state;
	notices_say(&notices, NOTICE_OF_BAD_FRAME, 1, "a");
	notices_say(&notices, NOTICE_OF_RESET, 1, "b");
	assert_int_equal(seen.lines, 2);
	assert_int_equal(seen.level, NOTICE_DEBUG);
}

static void each_address_is_said(void **state)
{
	struct notices notices = fresh();

	(void)state;
	notices_say(&notices, NOTICE_OF_LISTENING, 1, "listening on a");
	notices_say(&notices, NOTICE_OF_LISTENING, 1, "listening on b");
	assert_int_equal(seen.lines, 2);
	assert_string_equal(seen.text, "listening on b");
}

static void a_peer_s_words_stay_on_one_line(void **state)
{
	struct notices notices = fresh();

	(void)state;
	notices_say(&notices, NOTICE_OF_PEER_ERROR, 1, "said: %s", "a\n<0> b\x1b[2J\xff~");
	assert_string_equal(seen.text, "said: a?<0> b?[2J?~");
}

static void without_a_listener_nothing_happens(void **state)
{
	const struct notice_sink nobody = { NULL, NULL };
	struct notices notices;

	(void)state;
	notices_init(&notices, &nobody);
	notices_say(&notices, NOTICE_OF_BAD_FRAME, 1, "a");
}

static void no_kind_is_an_error(void **state)
{
#define AS_LEVEL(id, level, ...) level,
	static const int levels[] = { NOTICES(AS_LEVEL) };
#undef AS_LEVEL

	(void)state;
	for (size_t i = 0; i < NOTICE_COUNT; i++)
		assert_true(levels[i] >= NOTICE_WARNING);
}

int main(void)
{
	const struct CMUnitTest notices[] = {
		cmocka_unit_test(a_kind_is_said_once_a_second),
		cmocka_unit_test(kinds_do_not_hold_each_other_back),
		cmocka_unit_test(each_address_is_said),
		cmocka_unit_test(a_peer_s_words_stay_on_one_line),
		cmocka_unit_test(without_a_listener_nothing_happens),
		cmocka_unit_test(no_kind_is_an_error),
	};

	return cmocka_run_group_tests(notices, NULL, NULL);
}
