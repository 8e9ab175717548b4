/* test_log_line.c - HAProxy's end-of-stream line, as it comes and as it must not.
 * Proves R017, R111, R113, P027. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/messages/contract.h"
#include "spoa/observe/log_line.h"
#include "tests/spoa/observe/fixture.h"

static const char good[] =
        "infer v=1 ev=end id=922f3d4a-d472 hp=vm/25475 be=svc-a srv=a1 addr=127.0.0.1:29011 st=200 "
        "ts=---- rc=+2 in=svc-a re=a1 ac=route why=prefix err=- pt=0 t0=1795994433145 "
        "t1=1795994433448 ra=7 Tw=1 Tc=2 Tr=3 Td=705 Ta=706 U=413 B=158 sq=0 bq=0 "
        "f1=503/7/a0";

/* The good line with one thing replaced by another. */
static enum log_line_result read_with(const char *what, const char *instead, struct log_line *line)
{
	static char text[1024];
	const char *at = strstr(good, what);

	assert_non_null(at);
	(void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, instead,
	               at + strlen(what));
	return log_line_read(span_of(text), line);
}

static void a_line_says_all_that_the_contract_lists(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(log_line_read(span_of(good), &line), LOG_LINE_OK);
	assert_true(span_is(line.end.id, "922f3d4a-d472"));
	assert_true(span_is(line.process, "vm/25475"));
	assert_true(span_is(line.end.by.backend, "svc-a"));
	assert_true(span_is(line.end.by.server, "a1"));
	assert_true(span_is(line.end.by.address, "127.0.0.1:29011"));
	assert_int_equal(line.end.by.source, 0);
	assert_int_equal(line.end.status, 200);
	assert_memory_equal(line.end.termination, "----", 4);
	assert_int_equal(line.end.retries, 2);
	assert_true(line.end.redispatched);
	assert_true(line.end.routed);
	assert_true(line.end.applied);
	assert_true(line.end.decided_ms == 1795994433145);
	assert_true(line.end.first_byte_ms == 1795994433448);
	assert_int_equal(line.end.retry_after, 7);
	assert_int_equal(line.end.queue_ms, 1);
	assert_int_equal(line.end.connect_ms, 2);
	assert_int_equal(line.end.response_ms, 3);
	assert_int_equal(line.end.data_ms, 705);
	assert_int_equal(line.end.total_ms, 706);
	assert_int_equal(line.end.bytes_in, 413);
	assert_int_equal(line.end.bytes_out, 158);
	assert_true(span_is(line.end.instance, "svc-a"));
	assert_true(span_is(line.end.replica, "a1"));
	assert_true(span_is(line.end.action, "route"));
	assert_true(span_is(line.end.reason, "prefix"));
}

/* Whatever stands for a field of nothing is nothing. */
static void a_dash_is_not_there(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(read_with("in=svc-a", "in=-", &line), LOG_LINE_OK);
	assert_null(line.end.instance.at);
	assert_false(line.end.applied);
	assert_int_equal(read_with("t0=1795994433145", "t0=-", &line), LOG_LINE_OK);
	assert_false(line.end.routed);
	assert_true(line.end.decided_ms == 0);
	assert_int_equal(read_with("t1=1795994433448", "t1=-", &line), LOG_LINE_OK);
	assert_true(line.end.first_byte_ms == 0);
	assert_int_equal(read_with("ra=7", "ra=-", &line), LOG_LINE_OK);
	assert_int_equal(line.end.retry_after, 0);
	assert_int_equal(read_with("st=200", "st=-1", &line), LOG_LINE_OK);
	assert_int_equal(line.end.status, -1);
	assert_int_equal(read_with("Tr=3", "Tr=-1", &line), LOG_LINE_OK);
	assert_int_equal(line.end.response_ms, -1);
	assert_int_equal(read_with("srv=a1", "srv=<NOSRV>", &line), LOG_LINE_OK);
	assert_null(line.end.by.server.at);
	assert_int_equal(read_with("rc=+2", "rc=+0", &line), LOG_LINE_OK);
	assert_true(line.end.redispatched);
	assert_int_equal(line.end.retries, 0);
	assert_int_equal(read_with("rc=+2", "rc=1", &line), LOG_LINE_OK);
	assert_false(line.end.redispatched);
	assert_int_equal(read_with("hp=vm/25475", "hp=-", &line), LOG_LINE_OK);
	assert_null(line.process.at);
}

static void an_answer_with_an_error_was_not_applied(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(read_with("err=-", "err=1", &line), LOG_LINE_OK);
	assert_false(line.end.applied);
}

static void addresses_are_split_at_the_last_colon(void **state)
{
	static const struct {
		const char *text, *address; /* NULL: none */
	} known[] = {
		{ "addr=10.0.0.1:80", "10.0.0.1:80" },
		{ "addr=::1:31111", "[::1]:31111" },
		{ "addr=fd00::a:b:8080", "[fd00::a:b]:8080" },
		{ "addr=[::1]:31111", "[::1]:31111" },
		{ "addr=-:-", NULL },
		{ "addr=unix:0", NULL },
		{ "addr=-", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct log_line line;

		assert_int_equal(read_with("addr=127.0.0.1:29011", known[i].text, &line),
		                 LOG_LINE_OK);
		if (known[i].address)
			assert_true(span_is(line.end.by.address, known[i].address));
		if (i == 1 || i == 2)
			assert_ptr_equal(line.end.by.address.at, line.address);
		if (known[i].address)
			continue;
		assert_int_equal(line.end.by.address.len, 0);
	}
}

static void a_line_that_came_at_the_headers_is_no_end(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(read_with("Ta=706", "Ta=+0", &line), LOG_LINE_EARLY);
	assert_int_equal(read_with("B=158", "B=+160", &line), LOG_LINE_EARLY);
	assert_int_equal(read_with("Td=705", "Td=+0", &line), LOG_LINE_EARLY);
	/* A worse fault behind it is told rather. */
	assert_int_equal(read_with("Ta=706 U=413", "Ta=+706 U=x", &line), LOG_LINE_VALUE);
	assert_int_equal(read_with("Ta=706 U=413", "Ta=+706 V=413", &line), LOG_LINE_FIELD);
}

static void a_termination_of_two_letters_says_nothing_of_cookies(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(read_with("ts=----", "ts=CD", &line), LOG_LINE_OK);
	assert_memory_equal(line.end.termination, "CD--", 4);
}

static void what_is_not_ours_is_told_apart(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(
	        log_line_read(span_of("Proxy llm stopped (cumulated conns: FE: 1, BE: 0)."), &line),
	        LOG_LINE_FOREIGN);
	assert_int_equal(log_line_read(span_of(""), &line), LOG_LINE_FOREIGN);
	assert_int_equal(log_line_read(span_of("infer v=2 ev=end"), &line), LOG_LINE_FOREIGN);
	assert_int_equal(log_line_read(span_of("infer v=1 "), &line), LOG_LINE_FIELD);
	assert_int_equal(read_with("ev=end", "ev=first", &line), LOG_LINE_EVENT);
}

static void a_value_that_its_field_cannot_hold_is_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "id=922f3d4a-d472", "id=-" },
		{ "id=922f3d4a-d472", "id=" },
		{ "addr=127.0.0.1:29011", "addr=here" },
		{ "addr=127.0.0.1:29011", "addr=1.2.3.4:x" },
		{ "addr=127.0.0.1:29011", "addr=1.2.3.4:65536" },
		{ "st=200", "st=2x0" },
		{ "st=200", "st=1000" },
		{ "st=200", "st=-2" },
		{ "ts=----", "ts=---" },
		{ "ts=----", "ts=-----" },
		{ "rc=+2", "rc=++2" },
		{ "rc=+2", "rc=99999999999" },
		{ "t0=1795994433145", "t0=soon" },
		{ "t0=1795994433145", "t0=99999999999999999999" },
		{ "Ta=706", "Ta=-5" },
		{ "Ta=706", "Ta=2147483648" },
		{ "U=413", "U=-1" },
		{ "B=158", "B=0x10" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct log_line line;

		assert_int_equal(read_with(bad[i][0], bad[i][1], &line), LOG_LINE_VALUE);
	}
}

/* The engine writes it, and engines write dates. */
static void the_first_try_is_told_if_haproxy_tells_it(void **state)
{
	const char *const odd[] = { "f1=-",      "f1=",      "f1=503",       "f1=503/7",
		                    "f1=x/7/a0", "f1=/7/a0", "f1=99999/7/a0" };
	struct log_line line;

	(void)state;
	assert_int_equal(log_line_read(span_of(good), &line), LOG_LINE_OK);
	assert_int_equal(line.end.first_status, 503);
	assert_int_equal(line.end.first_retry_after, 7);
	assert_true(span_is(line.end.first_server, "a0"));
	assert_int_equal(read_with("f1=503/7/a0", "f1=500/-/b/c", &line), LOG_LINE_OK);
	assert_int_equal(line.end.first_status, 500);
	assert_int_equal(line.end.first_retry_after, 0);
	assert_true(span_is(line.end.first_server, "b/c"));
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		assert_int_equal(read_with("f1=503/7/a0", odd[i], &line), LOG_LINE_OK);
		assert_int_equal(line.end.first_status, 0);
		assert_int_equal(line.end.first_server.len, 0);
	}
	/* A configuration of before. */
	assert_int_equal(read_with(" f1=503/7/a0", "", &line), LOG_LINE_OK);
	assert_int_equal(line.end.first_status, 0);
	assert_int_equal(read_with(" bq=0 f1=503/7/a0", "", &line), LOG_LINE_FIELD);
}

static void an_odd_retry_after_is_no_reason_to_lose_an_end(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(read_with("ra=7", "ra=Fri,", &line), LOG_LINE_OK);
	assert_int_equal(line.end.retry_after, 0);
	assert_int_equal(read_with("ra=7", "ra=999999999", &line), LOG_LINE_OK);
	assert_int_equal(line.end.retry_after, 86400);
}

static void fields_have_one_order(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(read_with("Tw=1 Tc=2", "Tc=2 Tw=1", &line), LOG_LINE_FIELD);
	assert_int_equal(read_with("st=200 ", "", &line), LOG_LINE_FIELD);
	assert_int_equal(read_with("st=200", "status=200", &line), LOG_LINE_FIELD);
	assert_int_equal(read_with("hp=", " hp=", &line), LOG_LINE_FIELD);
}

static void what_follows_our_fields_is_not_looked_at(void **state)
{
	struct log_line line;

	(void)state;
	assert_int_equal(read_with("bq=0", "bq=0 new=1 Ta=+0", &line), LOG_LINE_OK);
	assert_int_equal(read_with("bq=0", "bq=0 | GET /a?b=c HTTP/1.1", &line), LOG_LINE_OK);
	assert_int_equal(line.end.total_ms, 706);
	assert_int_equal(read_with(" B=158 sq=0 bq=0", " | B=158 sq=0 bq=0", &line),
	                 LOG_LINE_FIELD);
}

/* A line cut anywhere (its `len` was too short) ends nothing, and changes nothing. */
static void a_line_cut_anywhere_is_refused(void **state)
{
	struct log_line untouched, line;
	size_t whole = strlen(good), last = (size_t)(strstr(good, " bq=") - good) + strlen(" bq=");

	(void)state;
	memset(&untouched, 0x5a, sizeof(untouched));
	for (size_t length = 0; length < whole; length++) {
		line = untouched;
		if (length < last)
			assert_int_not_equal(log_line_read((struct span){ good, length }, &line),
			                     LOG_LINE_OK);
		if (length < last)
			assert_memory_equal(&line, &untouched, sizeof(line));
	}
}

static void lines_of_real_haproxies_are_read(void **state)
{
	static const char *const names[] = { "ends-2.6.log", "ends-3.0.log" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct span text = fixture(names[i]), rest = text;
		unsigned good_ones = 0, early = 0, routed = 0, moved = 0, six = 0, nobody = 0;

		while (rest.len > 0) {
			size_t length = (size_t)((char *)memchr(rest.at, '\n', rest.len) - rest.at);
			struct log_line line;
			enum log_line_result result =
			        log_line_read((struct span){ rest.at, length }, &line);

			rest = (struct span){ rest.at + length + 1, rest.len - length - 1 };
			early += result == LOG_LINE_EARLY;
			if (result != LOG_LINE_OK)
				continue;
			good_ones++;
			routed += line.end.routed;
			moved += line.end.redispatched;
			six += line.end.by.address.len > 0 && line.end.by.address.at[0] == '[';
			nobody += line.end.by.server.len == 0;
			assert_int_equal(line.end.id.len, 36);
			assert_true(line.end.total_ms >= 0);
		}
		free((void *)(uintptr_t)text.at);
		assert_int_equal(good_ones, 21);
		assert_int_equal(early, 1);
		assert_int_equal(routed, 19);
		assert_int_equal(moved, 1);
		assert_int_equal(six, 2);
		assert_int_equal(nobody, 2);
	}
}

static void each_result_has_its_words(void **state)
{
	(void)state;
	for (int result = 0; result < LOG_LINE_RESULT_COUNT; result++)
		assert_true(strlen(log_line_text((enum log_line_result)result)) > 1);
	assert_string_equal(log_line_text(LOG_LINE_RESULT_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest log_line[] = {
		cmocka_unit_test(a_line_says_all_that_the_contract_lists),
		cmocka_unit_test(a_dash_is_not_there),
		cmocka_unit_test(an_answer_with_an_error_was_not_applied),
		cmocka_unit_test(addresses_are_split_at_the_last_colon),
		cmocka_unit_test(a_line_that_came_at_the_headers_is_no_end),
		cmocka_unit_test(a_termination_of_two_letters_says_nothing_of_cookies),
		cmocka_unit_test(what_is_not_ours_is_told_apart),
		cmocka_unit_test(a_value_that_its_field_cannot_hold_is_refused),
		cmocka_unit_test(the_first_try_is_told_if_haproxy_tells_it),
		cmocka_unit_test(an_odd_retry_after_is_no_reason_to_lose_an_end),
		cmocka_unit_test(fields_have_one_order),
		cmocka_unit_test(what_follows_our_fields_is_not_looked_at),
		cmocka_unit_test(a_line_cut_anywhere_is_refused),
		cmocka_unit_test(lines_of_real_haproxies_are_read),
		cmocka_unit_test(each_result_has_its_words),
	};

	return cmocka_run_group_tests(log_line, NULL, NULL);
}
