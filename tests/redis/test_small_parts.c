/* test_small_parts.c - words, pauses, places, and commands on their way out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "redis/backoff.h"
#include "redis/output.h"
#include "redis/redirect.h"
#include "redis/results.h"

static struct span span(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static void errors_have_names(void **state)
{
	static const struct {
		const char *text;
		enum redis_result result;
	} errors[] = {
		{ "LOADING Redis is loading", REDIS_RESULT_LOADING },
		{ "moved 1 a:1", REDIS_RESULT_MOVED },
		{ "MOVEDX 1 a:1", REDIS_RESULT_ERROR },
		{ "MOVE", REDIS_RESULT_ERROR },
		{ "ASK 1 a:1", REDIS_RESULT_ASK },
		{ "OOM", REDIS_RESULT_OOM },
		{ "WRONGPASS invalid", REDIS_RESULT_NOAUTH },
		{ "NOAUTH Authentication required.", REDIS_RESULT_NOAUTH },
		{ "ERR unknown", REDIS_RESULT_ERROR },
		{ "OK", REDIS_RESULT_ERROR },
		{ "LATE", REDIS_RESULT_ERROR },
		{ "", REDIS_RESULT_ERROR },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		assert_int_equal(redis_result_of_error(span(errors[i].text)), errors[i].result);
	assert_int_equal(redis_result_of_error((struct span){ NULL, 0 }), REDIS_RESULT_ERROR);
	for (int i = 0; i < REDIS_RESULT_COUNT; i++) {
		assert_true(strlen(redis_result_label((enum redis_result)i)) > 0);
		assert_true(strlen(redis_result_meaning((enum redis_result)i)) > 0);
	}
	for (int i = 0; i < REDIS_FAULT_COUNT; i++) {
		assert_true(strlen(redis_fault_label((enum redis_fault)i)) > 0);
		assert_true(strlen(redis_fault_meaning((enum redis_fault)i)) > 0);
	}
}

static void pauses_double_up_to_a_bound(void **state)
{
	struct redis_backoff backoff = { .first = 100, .max = 1000, .rng = { 1 } };
	usec_t wanted[] = { 100, 200, 400, 800, 1000, 1000, 1000 };
	usec_t least = 1000, most = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_in_range(redis_backoff_next(&backoff), wanted[i] / 2, wanted[i]);
	for (int i = 0; i < 1000; i++) {
		usec_t pause = redis_backoff_next(&backoff);

		least = pause < least ? pause : least;
		most = pause > most ? pause : most;
	}
	assert_in_range(least, 500, 510);
	assert_in_range(most, 990, 1000);
	redis_backoff_clear(&backoff);
	assert_in_range(redis_backoff_next(&backoff), 50, 100);
}

static void places_that_others_name(void **state)
{
	const struct redis_host me = { "10.0.0.9", 7009 };
	struct redis_host host = { "", 0 };
	static const char *const none[] = {
		"MOVED",
		"MOVED 1",
		"MOVED 10.0.0.2:6379",
		"MOVED 1 10.0.0.2",
		"MOVED 1 10.0.0.2:",
		"MOVED 1 10.0.0.2:0",
		"MOVED 1 10.0.0.2:65536",
		"MOVED 1 10.0.0.2:123456",
		"MOVED 1 10.0.0.2:-1",
		"MOVED 1 ?:6379",
		"MOVED 1 a/b:6379",
		"",
	};

	(void)state;
	assert_true(redis_redirect_read(span("MOVED 866 10.0.0.2:6379"), &me, &host));
	assert_string_equal(host.name, "10.0.0.2");
	assert_int_equal(host.port, 6379);
	assert_true(redis_redirect_read(span("ASK 866 node-1.example:65535"), &me, &host));
	assert_string_equal(host.name, "node-1.example");
	assert_int_equal(host.port, 65535);
	assert_true(redis_redirect_read(span("MOVED 866 ::1:7000"), &me, &host));
	assert_string_equal(host.name, "::1");
	assert_true(redis_redirect_read(span("MOVED 866 :7001"), &me, &host));
	assert_string_equal(host.name, "10.0.0.9");
	assert_int_equal(host.port, 7001);
	assert_false(redis_redirect_read(span("MOVED 866 :7001"), NULL, &host));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(redis_redirect_read(span(none[i]), &me, &host));
	assert_int_equal(host.port, 7001); /* as it was */
	assert_false(redis_place_read((struct span){ NULL, 0 }, span("1"), &host));
	assert_false(redis_place_read(span("a"), (struct span){ NULL, 0 }, &host));
}

static void a_command_is_counts_and_bytes(void **state)
{
	struct redis_output output;
	const struct span words[] = { { "SET", 3 }, { "a\0b", 3 }, { NULL, 0 } };
	static const char wanted[] = "*3\r\n$3\r\nSET\r\n$3\r\na\0b\r\n$0\r\n\r\n";
	struct span unsent;

	(void)state;
	assert_true(redis_output_init(&output, sizeof(wanted) - 1));
	assert_true(redis_output_add(&output, words, 3));
	unsent = redis_output_unsent(&output);
	assert_int_equal(unsent.len, sizeof(wanted) - 1);
	assert_memory_equal(unsent.at, wanted, unsent.len);
	assert_false(redis_output_add(&output, words, 1)); /* just full */
	redis_output_sent(&output, unsent.len);
	assert_int_equal(redis_output_unsent(&output).len, 0);
	redis_output_done(&output);
}

/* What was sent makes room, and what was not stays in order. */
static void room_is_used_again(void **state)
{
	struct redis_output output;
	unsigned put = 0, got = 0;

	(void)state;
	assert_true(redis_output_init(&output, 100));
	for (int i = 0; i < 1000; i++) {
		char word[16];
		struct span words[] = { { word, 10 } };

		(void)snprintf(word, sizeof(word), "%010u", put);
		if (redis_output_add(&output, words, 1))
			put++;
		if (i % 3 == 0 && redis_output_unsent(&output).len > 0) {
			char expected[32];

			(void)snprintf(expected, sizeof(expected), "*1\r\n$10\r\n%010u\r\n", got);
			assert_memory_equal(redis_output_unsent(&output).at, expected, 21);
			redis_output_sent(&output, 21);
			got++;
		}
	}
	assert_in_range(put - got, 3, 4);
	assert_true(got > 300);
	redis_output_done(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_have_names),
		cmocka_unit_test(pauses_double_up_to_a_bound),
		cmocka_unit_test(places_that_others_name),
		cmocka_unit_test(a_command_is_counts_and_bytes),
		cmocka_unit_test(room_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
