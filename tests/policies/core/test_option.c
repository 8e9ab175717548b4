/* test_option.c - values go where the table says, or are refused in words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/option.h"
#include "policies/core/target.h"
#include "policies/core/time.h"
#include "tests/near.h"

#define SPAN(text) ((struct span){ (text), strlen(text) })

struct settings {
	bool on;
	uint32_t count;
	double ratio;
	double size;
	usec_t time;
	double msec;
	char name[NAME_MAX_BYTES];
	int mode;
	struct rate rate;
	uint32_t width;
};

#define OF(field) offsetof(struct settings, field)

static const struct option options[] = {
	{ "on", OPTION_BOOL, OF(on), 0, 1, 1, "", "A switch.", NULL, false },
	{ "count", OPTION_COUNT, OF(count), 1, 16, 2, "targets", "A count.", NULL, false },
	{ "ratio", OPTION_NUMBER, OF(ratio), 0, 1, 0.25, "", "A ratio.", NULL, false },
	{ "size", OPTION_SIZE, OF(size), 0, 1e9, 4096, "", "A size.", NULL, false },
	{ "time", OPTION_DURATION, OF(time), 1e6, 3600e6, 30e6, "", "A time.", NULL, false },
	{ "msec", OPTION_MSEC, OF(msec), 0, 60000, 250, "", "A short time.", NULL, false },
	{ "name", OPTION_TEXT, OF(name), 0, 5, 0, "", "A name.", NULL, false },
	{ "mode", OPTION_CHOICE, OF(mode), 0, 2, 1, "", "A mode.", "both|left-one|right", false },
	{ "width", OPTION_COUNT, OF(width), 1, 16, 2, "", "A count, or none.", "auto", false },
	{ "rate", OPTION_RATE, OF(rate), 0, 2e6, 3, "", "A rate.", NULL, false },
	{ 0 },
};

static struct settings settings;
static struct error error;

static int fresh(void **state)
{
	(void)state;
	settings = (struct settings){ .name = "old" };
	options_reset(options, &settings);
	error.text[0] = '\0';
	return 0;
}

static bool set(const char *name, double value)
{
	error.text[0] = '\0';
	return option_set_number(option_named(options, SPAN(name)), &settings, value, &error);
}

static bool set_text(const char *name, const char *text)
{
	error.text[0] = '\0';
	return option_set_text(option_named(options, SPAN(name)), &settings, SPAN(text), &error);
}

static void defaults_come_from_the_table(void **state)
{
	(void)state;
	assert_true(settings.on);
	assert_int_equal(settings.count, 2);
	assert_true(settings.ratio == 0.25);
	assert_true(settings.size == 4096);
	assert_int_equal(settings.time, 30 * SECOND);
	assert_true(settings.msec == 250);
	assert_string_equal(settings.name, "");
	assert_int_equal(settings.mode, 1);
	options_reset(NULL, &settings);
}

static void an_option_is_found_by_its_name_however_spelled(void **state)
{
	(void)state;
	assert_ptr_equal(option_named(options, SPAN("Ratio")), &options[2]);
	assert_null(option_named(options, SPAN("ration")));
	assert_null(option_named(NULL, SPAN("ratio")));
}

static void numbers_are_stored_within_their_range_and_only_there(void **state)
{
	(void)state;
	assert_true(set("count", 1) && settings.count == 1);
	assert_true(set("count", 16) && settings.count == 16);
	assert_false(set("count", 17));
	assert_string_equal(error.text, "count: 17 is not between 1 and 16 targets");
	assert_false(set("count", 0));
	assert_int_equal(settings.count, 16);
	assert_false(set("ratio", 1.01));
	assert_string_equal(error.text, "ratio: 1.01 is not between 0 and 1");
	assert_false(set("ratio", 0.0 / 0.0));
	assert_false(set("count", -1));
	assert_false(set("count", 1e300));
	assert_true(set("time", 1500000) && settings.time == 1500000);
	assert_true(set("on", 0) && !settings.on);
	assert_true(set("mode", 2) && settings.mode == 2);
}

static void parts_of_a_thing_are_refused(void **state)
{
	(void)state;
	assert_false(set("count", 2.5));
	assert_string_equal(error.text, "count: 2.5 is not a whole number");
	assert_false(set("mode", 0.5));
	assert_false(set("on", 0.5));
}

static void a_number_is_no_text(void **state)
{
	(void)state;
	assert_false(set("name", 3));
	assert_string_equal(error.text, "name: 3 is not a text");
}

static void durations_are_written_with_their_unit(void **state)
{
	(void)state;
	assert_true(set_text("time", "250s") && settings.time == 250 * SECOND);
	assert_true(set_text("time", "30m") && settings.time == 1800 * SECOND);
	assert_true(set_text("time", "1h") && settings.time == 3600 * SECOND);
	assert_true(set_text("time", "1.5s") && settings.time == 1500 * MSEC);
	assert_true(set_text("time", "1500MS") && settings.time == 1500 * MSEC);
	assert_true(set_text("time", "1000000us") && settings.time == SECOND);
	assert_true(set_text("msec", "250ms") && settings.msec == 250);
	assert_true(set_text("msec", "2s") && settings.msec == 2000);
	assert_true(set_text("msec", "0") && settings.msec == 0);
	assert_false(set_text("time", "30"));
	assert_string_equal(error.text, "time: \"30\" needs a unit, us, ms, s, m, h or d");
	assert_false(set_text("time", "30x"));
	assert_false(set_text("time", "2h"));
	assert_string_equal(error.text, "time: 2h is not between 1s and 1h");
	assert_false(set_text("time", "0"));
	assert_string_equal(error.text, "time: 0 is not between 1s and 1h");
	assert_false(set_text("time", "100ms"));
	assert_string_equal(error.text, "time: 100ms is not between 1s and 1h");
	assert_false(set_text("msec", "90s"));
	assert_string_equal(error.text, "msec: 90s is not between 0 and 1m");
}

static void sizes_are_written_with_their_unit(void **state)
{
	(void)state;
	assert_true(set_text("size", "64k") && settings.size == 65536);
	assert_true(set_text("size", "2M") && settings.size == 2097152);
	assert_true(set_text("size", "100b") && settings.size == 100);
	assert_true(set_text("size", "0") && settings.size == 0);
	assert_false(set_text("size", "4096"));
	assert_string_equal(error.text, "size: \"4096\" needs a unit, b, k, m or g");
	assert_false(set_text("size", "1g"));
	assert_string_equal(error.text, "size: 1g is not between 0 and 1000000000b");
	assert_false(set_text("size", "k"));
	assert_string_equal(error.text, "size: \"k\" is not a number");
}

static void plain_numbers_are_read_from_text(void **state)
{
	(void)state;
	assert_true(set_text("ratio", "0.5") && settings.ratio == 0.5);
	assert_true(set_text("count", "7") && settings.count == 7);
	assert_false(set_text("count", "7.5"));
	assert_false(set_text("count", "-7"));
	assert_false(set_text("count", "7x"));
	assert_false(set_text("ratio", ".5"));
	assert_false(set_text("ratio", "0."));
	assert_false(set_text("ratio", "0.1.1"));
	assert_false(set_text("ratio", ""));
	assert_false(set_text("ratio", "inf"));
	assert_false(set_text("ratio", "-"));
}

static void switches_and_choices_are_words(void **state)
{
	(void)state;
	assert_true(set_text("on", "false") && !settings.on);
	assert_true(set_text("on", "Yes") && settings.on);
	assert_false(set_text("on", "maybe"));
	assert_true(set_text("mode", "both") && settings.mode == 0);
	assert_true(set_text("mode", "left_one") && settings.mode == 1);
	assert_true(set_text("mode", "right") && settings.mode == 2);
	assert_false(set_text("mode", "left"));
	assert_string_equal(error.text, "mode: \"left\" is none of both|left-one|right");
	assert_int_equal(choice_named("a|b|c", SPAN("c")), 2);
	assert_int_equal(choice_named("a|b|c", SPAN("")), -1);
	assert_int_equal(choice_named("a|b|c", SPAN("a|b")), -1);
}

static void texts_are_copied_within_their_length(void **state)
{
	(void)state;
	assert_true(set_text("name", "abcde"));
	assert_string_equal(settings.name, "abcde");
	assert_false(set_text("name", "abcdef"));
	assert_string_equal(settings.name, "abcde");
	assert_true(set_text("name", ""));
	assert_string_equal(settings.name, "");
	assert_false(option_set_text(&options[6], &settings, (struct span){ "a\0b", 3 }, &error));
}

static void assert_rate(const char *text, double per_second, double period_s)
{
	assert_true(set_text("rate", text));
	assert_close(settings.rate.per_second, per_second, 1e-9);
	assert_close(settings.rate.period_s, period_s, 0);
}

static void a_rate_is_so_much_in_such_a_time(void **state)
{
	(void)state;
	assert_close(settings.rate.per_second, 3, 0);
	assert_close(settings.rate.period_s, 1, 0);
	assert_rate("50/s", 50, 1);
	assert_rate("600/m", 10, 60);
	assert_rate("1M/m", 1e6 / 60, 60);
	assert_rate("1m/S", 1e6, 1);
	assert_rate("1.5k/h", 1500.0 / 3600, 3600);
	assert_rate("0.001g/d", 1e6 / 86400, 86400);
	assert_rate("0/m", 0, 60);
	assert_rate("0", 0, 1);
}

static void what_is_no_rate_is_refused_and_changes_nothing(void **state)
{
	static const char *const wrong[] = { "50",     "50/",   "/s",    "k/s",   "50/x",
		                             "50/min", "50/ s", "50x/s", "50//s", "-1/s",
		                             "inf/s",  "",      "1e3/s", "50/s/s" };

	(void)state;
	assert_rate("7/m", 7.0 / 60, 60);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(set_text("rate", wrong[i]));
		assert_close(settings.rate.per_second, 7.0 / 60, 1e-9);
		assert_close(settings.rate.period_s, 60, 0);
	}
	assert_false(set_text("rate", "50"));
	assert_string_equal(error.text, "rate: \"50\" needs a time, as in 50/s or 600/m");
	assert_false(set_text("rate", "50/min"));
	assert_string_equal(error.text, "rate: \"50/min\" is not like 50/s, 600/m, 10k/h or 1M/d");
	assert_false(set_text("rate", "3M/s"));
	assert_string_equal(error.text, "rate: 3e+06/s is not between 0 and 2e+06/s");
}

static void a_count_may_have_a_word_for_none(void **state)
{
	(void)state;
	assert_int_equal(settings.width, 2);
	assert_true(set_text("width", "Auto"));
	assert_int_equal(settings.width, 0);
	assert_true(set_text("width", "7"));
	assert_int_equal(settings.width, 7);
	assert_false(set("width", 0));
	assert_false(set_text("width", "autos"));
	assert_false(set_text("count", "auto"));
	assert_int_equal(settings.width, 7);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_count_may_have_a_word_for_none),
		TEST(defaults_come_from_the_table),
		TEST(an_option_is_found_by_its_name_however_spelled),
		TEST(numbers_are_stored_within_their_range_and_only_there),
		TEST(parts_of_a_thing_are_refused),
		TEST(a_number_is_no_text),
		TEST(durations_are_written_with_their_unit),
		TEST(sizes_are_written_with_their_unit),
		TEST(plain_numbers_are_read_from_text),
		TEST(switches_and_choices_are_words),
		TEST(texts_are_copied_within_their_length),
		TEST(a_rate_is_so_much_in_such_a_time),
		TEST(what_is_no_rate_is_refused_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
