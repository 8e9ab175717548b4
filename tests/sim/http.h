/* http.h - HTTP/1.1 messages as test tools meet them: heads, and chunked bodies. Pure.
 *
 * Spans point into what was parsed and live as long as that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/span.h"

enum { HTTP_FIELDS_MAX = 100, HTTP_HEAD_MAX = 65536 };

struct http_field {
	struct span name, value;
};

struct http_head {
	struct span words[3]; /* method, target, version; or version, status, reason */
	int field_count;
	int64_t content_length; /* -1: not said */
	bool chunked;
	bool close; /* said so, or HTTP/1.0 without keep-alive */
	bool expects_continue;
	struct http_field fields[HTTP_FIELDS_MAX];
};

/* The length of the head with its empty line; 0 when it is not all there; -1 when it is no HTTP
 * head, or longer than HTTP_HEAD_MAX, or has more than HTTP_FIELDS_MAX fields. */
int http_head_parse(struct span bytes, struct http_head *ret_head);

/* The value of the first field of this name, in whatever case; at is NULL without one. */
struct span http_field_named(const struct http_head *head, const char *name);

/* Of a response; -1 when the second word is no status. */
int http_status(const struct http_head *head);

bool span_is(struct span span, const char *text);      /* equal, case and all */
bool span_is_like(struct span span, const char *text); /* equal but for case */

/* A non-negative decimal number; -1 when it is anything else. */
int64_t span_number(struct span span);

/* Reads a chunked body piece by piece; all zero is its start. */
struct http_chunks {
	uint8_t state;
	uint64_t left;
};

/* Consumes some of the bytes and gives the payload found among them (perhaps none). Call again with
 * the rest until it consumes nothing or the body is done. -1: not a chunked body. */
int64_t http_chunks_read(struct http_chunks *chunks, struct span bytes, struct span *ret_payload);
bool http_chunks_done(const struct http_chunks *chunks);
