/* test_journal.c - lines for the operator: how they look, and which are kept back. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/journal.h"

static struct journal journal;
static usec_t time_now;
static int ends[2]; /* of a pipe */
static char heard[4096];

static usec_t now(void)
{
	return time_now;
}

static int start(void **state)
{
	(void)state;
	time_now = 1000 * SECOND;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	journal_init(&journal, ends[1], LOGGED_NOTICE, false, now);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	(void)close(ends[0]);
	(void)close(ends[1]);
	return 0;
}

/* What was written since the last look. */
static const char *lines(void)
{
	ssize_t length = read(ends[0], heard, sizeof(heard) - 1);

	heard[length > 0 ? length : 0] = '\0';
	return heard;
}

static void levels_are_named(void **state)
{
	(void)state;
	assert_int_equal(journal_level_named("error"), LOGGED_ERROR);
	assert_int_equal(journal_level_named("debug"), LOGGED_DEBUG);
	assert_int_equal(journal_level_named(""), -1);
	assert_int_equal(journal_level_named("loud"), -1);
}

static void a_line_has_journalds_priority_where_no_terminal_is(void **state)
{
	(void)state;
	journal_say(&journal, LOGGED_WARNING, "%u servers of %s", 3, "pool");
	assert_string_equal(lines(), "<4>warning: 3 servers of pool\n");
	journal.priority = false;
	journal_say(&journal, LOGGED_ERROR, "gone");
	assert_string_equal(lines(), "error: gone\n");
}

static void nothing_above_the_level_is_said(void **state)
{
	(void)state;
	journal_say(&journal, LOGGED_INFO, "one");
	journal_text(&journal, LOGGED_INFO, "two");
	journal_line(&journal, LOGGED_DEBUG, "three");
	assert_string_equal(lines(), "");
	assert_int_equal(journal.suppressed, 0);
}

static void a_kind_is_said_once_a_second_and_the_next_tells_how_many_were_not(void **state)
{
	(void)state;
	journal_say(&journal, LOGGED_NOTICE, "seen %d", 1);
	assert_string_equal(lines(), "<5>notice: seen 1\n");
	journal_say(&journal, LOGGED_NOTICE, "seen %d", 2);
	time_now += SECOND - 1;
	journal_say(&journal, LOGGED_NOTICE, "seen %d", 3);
	assert_string_equal(lines(), "");
	time_now += 1;
	journal_say(&journal, LOGGED_NOTICE, "seen %d", 4);
	assert_string_equal(lines(), "<5>notice: seen 4 (2 more of this kind kept back)\n");
	assert_int_equal(journal.suppressed, 2);
	time_now += SECOND;
	journal_say(&journal, LOGGED_NOTICE, "seen %d", 5);
	assert_string_equal(lines(), "<5>notice: seen 5\n");
}

static void kinds_do_not_wait_for_each_other(void **state)
{
	(void)state;
	journal_say(&journal, LOGGED_NOTICE, "this %d", 1);
	journal_say(&journal, LOGGED_NOTICE, "that %d", 1);
	assert_string_equal(lines(), "<5>notice: this 1\n<5>notice: that 1\n");
}

static void of_a_finished_text_what_precedes_a_number_is_the_kind(void **state)
{
	(void)state;
	journal_text(&journal, LOGGED_NOTICE, "page of 10.0.0.1 is bad");
	journal_text(&journal, LOGGED_NOTICE, "page of 10.0.0.2 is bad");
	journal_text(&journal, LOGGED_NOTICE, "list of 10.0.0.2 is bad");
	assert_string_equal(lines(), "<5>notice: page of 10.0.0.1 is bad\n"
	                             "<5>notice: list of 10.0.0.2 is bad\n");
}

static void a_line_of_a_list_is_never_kept_back(void **state)
{
	(void)state;
	journal_line(&journal, LOGGED_ERROR, "a.json:1: bad");
	journal_line(&journal, LOGGED_ERROR, "a.json:1: bad");
	assert_string_equal(lines(), "<3>error: a.json:1: bad\n<3>error: a.json:1: bad\n");
}

static void the_kind_silent_for_longest_makes_room(void **state)
{
	(void)state;
	for (int i = 0; i < JOURNAL_KINDS_MAX; i++) {
		char text[] = { 'k', (char)(' ' + i / 10), (char)('a' + i % 10), '\0' };

		time_now++;
		journal_text(&journal, LOGGED_NOTICE, text);
	}
	(void)lines();
	journal_text(&journal, LOGGED_NOTICE, "one kind more"); /* in place of the first */
	journal_text(&journal, LOGGED_NOTICE, "k b");           /* the second still waits */
	assert_string_equal(lines(), "<5>notice: one kind more\n");
	journal_text(&journal, LOGGED_NOTICE, "k a");
	assert_string_equal(lines(), "<5>notice: k a\n");
}

static void foreign_words_stay_on_their_line(void **state)
{
	(void)state;
	journal_line(&journal, LOGGED_ERROR, "a\nb\x7f\x1b[0m \xff \xc3\xa4 \xe2\x82");
	assert_string_equal(lines(), "<3>error: a?b??[0m ? \xc3\xa4 ??\n");
}

static void json_is_json_whatever_is_in_it(void **state)
{
	(void)state;
	journal_init(&journal, ends[1], LOGGED_NOTICE, true, now);
	journal_say(&journal, LOGGED_NOTICE, "say \"%s\"", "a\\b\n\xff");
	assert_string_equal(lines(),
	                    "{\"level\":\"notice\",\"message\":\"say \\\"a\\\\b??\\\"\"}\n");
	journal_say(&journal, LOGGED_NOTICE, "say \"%s\"", "");
	time_now += SECOND;
	journal_say(&journal, LOGGED_NOTICE, "say \"%s\"", "c");
	assert_string_equal(lines(),
	                    "{\"level\":\"notice\",\"message\":\"say \\\"c\\\" (1 more of this "
	                    "kind kept back)\"}\n");
}

static void what_is_too_long_is_cut_between_letters(void **state)
{
	char text[3000];
	size_t length;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	text[sizeof(text) - 2] = '\0';
	journal_init(&journal, ends[1], LOGGED_NOTICE, true, now);
	journal_line(&journal, LOGGED_NOTICE, text);
	length = strlen(lines());
	assert_in_range(length, 1000, 1100);
	assert_string_equal(heard + length - 5, "\xc3\xa4\"}\n");
}

static void a_reader_that_does_not_read_is_not_waited_for(void **state)
{
	char filler[4096] = { 0 };

	(void)state;
	while (write(ends[1], filler, sizeof(filler)) > 0)
		;
	journal_line(&journal, LOGGED_ERROR, "lost");
	assert_int_equal(journal.suppressed, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(levels_are_named),
		TEST(a_line_has_journalds_priority_where_no_terminal_is),
		TEST(nothing_above_the_level_is_said),
		TEST(a_kind_is_said_once_a_second_and_the_next_tells_how_many_were_not),
		TEST(kinds_do_not_wait_for_each_other),
		TEST(of_a_finished_text_what_precedes_a_number_is_the_kind),
		TEST(a_line_of_a_list_is_never_kept_back),
		TEST(the_kind_silent_for_longest_makes_room),
		TEST(foreign_words_stay_on_their_line),
		TEST(json_is_json_whatever_is_in_it),
		TEST(what_is_too_long_is_cut_between_letters),
		TEST(a_reader_that_does_not_read_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
