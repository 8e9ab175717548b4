/* test_http.c - heads and chunked bodies as the test tools read them, whole, cut and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/bytes.h"
#include "tests/sim/http.h"

static struct span text(const char *string)
{
	return (struct span){ string, strlen(string) };
}

static void a_request_head_is_read(void **state)
{
	static const char request[] = "POST /v1/x?y HTTP/1.1\r\nHost:  a:1 \r\nX-Empty:\r\n"
	                              "content-LENGTH: 12\r\nExpect: 100-continue\r\n\r\nbody";
	struct http_head head;

	(void)state;
	assert_int_equal(http_head_parse(text(request), &head), sizeof(request) - 5);
	assert_true(span_is(head.words[0], "POST"));
	assert_true(span_is(head.words[1], "/v1/x?y"));
	assert_true(span_is(http_field_named(&head, "host"), "a:1"));
	assert_true(span_is(http_field_named(&head, "x-empty"), ""));
	assert_null(http_field_named(&head, "x-none").at);
	assert_int_equal(head.content_length, 12);
	assert_true(head.expects_continue);
	assert_false(head.close || head.chunked);
}

static void a_response_head_is_read(void **state)
{
	struct http_head head;

	(void)state;
	assert_true(http_head_parse(text("HTTP/1.1 503 Service Unavailable\r\n"
	                                 "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"),
	                            &head) > 0);
	assert_int_equal(http_status(&head), 503);
	assert_true(span_is(head.words[2], "Service Unavailable"));
	assert_true(head.chunked && head.close);
	assert_int_equal(head.content_length, -1);
}

static void a_head_that_is_cut_anywhere_is_awaited(void **state)
{
	static const char whole[] = "GET / HTTP/1.0\r\nA: b\r\n\r\n";
	struct http_head head;

	(void)state;
	for (size_t len = 0; len < sizeof(whole) - 1; len++)
		assert_int_equal(http_head_parse((struct span){ whole, len }, &head), 0);
	assert_int_equal(http_head_parse(text(whole), &head), sizeof(whole) - 1);
	assert_true(head.close);
}

static void what_is_no_head_is_refused(void **state)
{
	static const char *const wrong[] = {
		"GET /\r\n\r\n",
		"\r\n\r\n",
		"GET / HTTP/1.1\r\nno colon\r\n\r\n",
		"GET / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n",
		"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
		"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
	};
	static char endless[HTTP_HEAD_MAX];
	struct http_head head;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(http_head_parse(text(wrong[i]), &head), -1);
	memset(endless, 'a', sizeof(endless));
	assert_int_equal(http_head_parse((struct span){ endless, sizeof(endless) }, &head), -1);
}

/* Reads the body in pieces of this size; false when it is refused. */
static bool reads_chunked(struct span body, size_t piece, struct bytes *ret_payload)
{
	struct http_chunks chunks = { 0 };
	size_t at = 0;

	while (at < body.len && !http_chunks_done(&chunks)) {
		size_t rest = body.len - at;
		struct span payload;
		int64_t used = http_chunks_read(
		        &chunks, (struct span){ body.at + at, rest < piece ? rest : piece },
		        &payload);

		if (used < 0)
			return false;
		assert_true(used > 0);
		bytes_span_add(ret_payload, payload);
		at += (size_t)used;
	}
	return http_chunks_done(&chunks);
}

static void a_chunked_body_is_the_same_in_pieces_of_any_size(void **state)
{
	struct span body = text(
	        "5\r\nhello\r\n001;x=y\r\n \r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nGET /");

	(void)state;
	for (size_t piece = 1; piece <= body.len; piece++) {
		struct bytes payload = { 0 };

		assert_true(reads_chunked(body, piece, &payload));
		assert_true(span_is(bytes_span(&payload), "hello 0123456789"));
		bytes_done(&payload);
	}
}

static void a_broken_chunked_body_is_refused(void **state)
{
	static const char *const wrong[] = { "x\r\n", "5\r\nhelloX\r\n",
		                             "10000000000000000\r\n\r\n" };
	struct bytes payload = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(reads_chunked(text(wrong[i]), 100, &payload));
	bytes_done(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_head_is_read),
		cmocka_unit_test(a_response_head_is_read),
		cmocka_unit_test(a_head_that_is_cut_anywhere_is_awaited),
		cmocka_unit_test(what_is_no_head_is_refused),
		cmocka_unit_test(a_chunked_body_is_the_same_in_pieces_of_any_size),
		cmocka_unit_test(a_broken_chunked_body_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
