/* test_trace.c - three kinds of recordings are read, and what cannot be read is named.
 * Proves B051. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/replay/trace.h"

static struct ladder ladder;

static char *write_file(const char *text)
{
	static char path[64];
	int file;

	(void)snprintf(path, sizeof(path), "/tmp/trace.XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	(void)close(file);
	return path;
}

static struct trace *load(const char *text)
{
	struct error error = { "" };
	char *path = write_file(text);
	struct trace *trace = trace_load(path, &ladder, &error);

	if (!trace)
		fail_msg("%s", error.text);
	(void)unlink(path);
	return trace;
}

static void a_public_trace_is_sorted_and_hashed(void **state)
{
	struct trace *trace = load("{\"timestamp\": 2000, \"input_length\": 1100, "
	                           "\"output_length\": 7, \"hash_ids\": [1, 2, 3]}\n"
	                           "\n"
	                           "{\"timestamp\": 500, \"input_length\": 1024, "
	                           "\"output_length\": 0, \"hash_ids\": [1, 9]}\n");

	(void)state;
	assert_int_equal(trace->count, 2);
	assert_int_equal(trace->bad, 0);
	assert_true(trace->has_prompts);
	assert_int_equal(trace->requests[0].at, 0);
	assert_int_equal(trace->requests[1].at, 1500 * MSEC);
	assert_int_equal(trace->requests[0].output_tokens, 1);
	assert_int_equal(trace->requests[1].output_tokens, 7);
	assert_int_equal(trace->requests[1].input_tokens, 1100);
	assert_int_equal(trace->requests[1].bytes, 4400);
	/* Whole blocks only: the third holds 76 tokens. */
	assert_int_equal(trace->requests[1].block_count, 2);
	assert_int_equal(trace->requests[0].blocks[0], trace->requests[1].blocks[0]);
	assert_int_not_equal(trace->requests[0].blocks[1], trace->requests[1].blocks[1]);
	/* 4400 bytes: four blocks of 1 KB; the first two lie in block 1, the others differ. */
	assert_int_equal(trace->requests[1].hash_count, 4);
	assert_int_equal(trace->requests[0].hashes[1], trace->requests[1].hashes[1]);
	assert_int_not_equal(trace->requests[0].hashes[0], trace->requests[0].hashes[1]);
	assert_int_not_equal(trace->requests[0].hashes[2], trace->requests[1].hashes[2]);
	trace_free(trace);
}

static void decisions_meet_their_ends_by_id(void **state)
{
	struct trace *trace = load(
	        "{\"ts\":\"2026-11-30T01:00:00.250Z\",\"id\":\"a\",\"plen\":4096,\"total\":5000,"
	        "\"hashes\":[\"0000000000000001\",\"2\",\"3\",\"4\"]}\n"
	        "{\"ts\":\"2026-11-30T01:00:01.000Z\",\"id\":\"a\",\"end\":{\"bytes\":2000}}\n"
	        "{\"ts\":\"2026-11-30T01:00:02.250Z\",\"id\":\"b\",\"plen\":4096,\"total\":5000,"
	        "\"hashes\":[\"1\",\"2\",\"3\",\"5\"],\"end\":{\"bytes\":400}}\n"
	        "{\"ts\":\"2026-11-30T01:00:03.250Z\",\"id\":\"c\",\"total\":900}\n");
	const struct trace_request *a = &trace->requests[0], *b = &trace->requests[1];

	(void)state;
	assert_int_equal(trace->count, 3);
	assert_int_equal(trace->bad, 0);
	assert_int_equal(b->at, 2 * SECOND);
	assert_int_equal(a->output_tokens, 10);
	assert_int_equal(b->output_tokens, 2);
	assert_int_equal(trace->requests[2].output_tokens, 1);
	assert_int_equal(a->input_tokens, 1025);
	assert_int_equal(a->hashes[3], 4);
	/* Two blocks of 512 tokens: the first has the same two kilobytes, the second not. */
	assert_int_equal(a->block_count, 2);
	assert_int_equal(a->blocks[0], b->blocks[0]);
	assert_int_not_equal(a->blocks[1], b->blocks[1]);
	assert_int_equal(trace->requests[2].bytes, 900);
	trace_free(trace);
}

static void what_lies_behind_the_hashes_is_nobody_elses(void **state)
{
	struct trace *trace = load(
	        "{\"ts\":\"2026-11-30T01:00:00.000Z\",\"id\":\"a\",\"plen\":8192,\"total\":8192,"
	        "\"hashes\":[\"1\",\"2\"]}\n"
	        "{\"ts\":\"2026-11-30T01:00:01.000Z\",\"id\":\"b\",\"plen\":8192,\"total\":8192,"
	        "\"hashes\":[\"1\",\"2\"]}\n");

	(void)state;
	assert_int_equal(trace->requests[0].block_count, 4);
	assert_int_equal(trace->requests[0].blocks[0], trace->requests[1].blocks[0]);
	for (int i = 1; i < 4; i++)
		assert_int_not_equal(trace->requests[0].blocks[i], trace->requests[1].blocks[i]);
	trace_free(trace);
}

static const char end_line[] =
        "<134>Nov 30 01:00:00 h haproxy[1]: infer v=1 ev=end id=x hp=h/1 be=a srv=s1 "
        "addr=127.0.0.1:80 st=200 ts=---- rc=0 in=a re=s1 ac=route why=load err=- pt=1 "
        "t0=1000 t1=1100 ra=- Tw=0 Tc=0 Tr=1 Td=2 Ta=3 U=8192 B=1000 sq=0 bq=0\n";

static void end_lines_tell_sizes_only(void **state)
{
	struct trace *trace = load(end_line);

	(void)state;
	assert_int_equal(trace->count, 1);
	assert_false(trace->has_prompts);
	assert_int_equal(trace->requests[0].bytes, 8192);
	assert_int_equal(trace->requests[0].block_count, 4);
	assert_int_equal(trace->requests[0].hash_count, 0);
	assert_int_equal(trace->requests[0].output_tokens, 6);
	trace_free(trace);
}

static void bad_lines_are_counted_and_the_first_is_named(void **state)
{
	struct trace *trace = load(
	        "{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": []}\n"
	        "{\"timestamp\": 0, \"input_length\": 0, \"output_length\": 1, \"hash_ids\": []}\n"
	        "not even JSON\n"
	        "{\"timestamp\": -1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": []}\n"
	        "{\"timestamp\": 1, \"input_length\": 99999999, \"output_length\": 1, "
	        "\"hash_ids\": []}\n");

	(void)state;
	assert_int_equal(trace->count, 1);
	assert_int_equal(trace->bad, 4);
	assert_non_null(strstr(trace->first_bad, ":2: expected timestamp (ms), input_length"));
	trace_free(trace);
}

static void a_hash_that_is_none_takes_its_line_along(void **state)
{
	struct trace *trace =
	        load("{\"ts\":\"2026-11-30T01:00:00Z\",\"id\":\"a\",\"plen\":1024,\"total\":1024,"
	             "\"hashes\":[\"xyz\"]}\n"
	             "{\"ts\":\"yesterday\",\"id\":\"b\",\"total\":1024}\n"
	             "{\"ts\":\"2026-11-30T01:00:00Z\",\"id\":\"c\",\"total\":1024}\n");

	(void)state;
	assert_int_equal(trace->count, 1);
	assert_int_equal(trace->bad, 2);
	assert_non_null(strstr(trace->first_bad, "hexadecimal"));
	trace_free(trace);
}

static void a_file_without_a_request_is_an_error_that_says_so(void **state)
{
	struct error error = { "" };
	char *path = write_file("{}\n");

	(void)state;
	assert_null(trace_load(path, &ladder, &error));
	assert_non_null(strstr(error.text, ":1: expected a decision"));
	(void)unlink(path);
	error.text[0] = '\0';
	assert_null(trace_load("/nonexistent/trace", &ladder, &error));
	assert_non_null(strstr(error.text, "No such file"));
	error.text[0] = '\0';
	path = write_file("\n");
	assert_null(trace_load(path, &ladder, &error));
	assert_non_null(strstr(error.text, "no request in it"));
	(void)unlink(path);
}

static void equal_times_are_spread_by_the_seed(void **state)
{
	struct trace *trace = load(
	        "{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 1, \"hash_ids\": []}\n"
	        "{\"timestamp\": 0, \"input_length\": 11, \"output_length\": 1, \"hash_ids\": []}\n"
	        "{\"timestamp\": 0, \"input_length\": 12, \"output_length\": 1, \"hash_ids\": "
	        "[]}\n");

	(void)state;
	trace_spread(trace, SECOND, 1);
	assert_int_equal(trace->requests[0].at, 0);
	assert_true(trace->requests[1].at > 0 && trace->requests[1].at < SECOND);
	assert_true(trace->requests[2].at > trace->requests[1].at);
	trace_keep(trace, 1);
	assert_int_equal(trace->count, 1);
	trace_free(trace);
}

int main(void)
{
	struct error error = { "" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_public_trace_is_sorted_and_hashed),
		cmocka_unit_test(decisions_meet_their_ends_by_id),
		cmocka_unit_test(what_lies_behind_the_hashes_is_nobody_elses),
		cmocka_unit_test(end_lines_tell_sizes_only),
		cmocka_unit_test(bad_lines_are_counted_and_the_first_is_named),
		cmocka_unit_test(a_hash_that_is_none_takes_its_line_along),
		cmocka_unit_test(a_file_without_a_request_is_an_error_that_says_so),
		cmocka_unit_test(equal_times_are_spread_by_the_seed),
	};

	if (!ladder_parse((struct span){ LADDER_DEFAULT, strlen(LADDER_DEFAULT) }, &ladder, &error))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
