/* bytes.h - a run of bytes that grows at its end and is consumed at its front.
 *
 * Owned by whoever holds the struct; all zero is empty. When memory runs out the process ends: a
 * test tool has no better answer. Spans into it are void after the next call that adds. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "policies/core/span.h"

struct bytes {
	char *data;
	size_t from, to, capacity; /* what is there: data[from..to) */
};

struct span bytes_span(const struct bytes *bytes);
size_t bytes_len(const struct bytes *bytes);

/* Room for so many bytes more; write there, then say how many came with bytes_added(). */
char *bytes_room(struct bytes *bytes, size_t room);
void bytes_added(struct bytes *bytes, size_t count);

void bytes_add(struct bytes *bytes, const char *data, size_t len);
void bytes_text(struct bytes *bytes, const char *text);
void bytes_span_add(struct bytes *bytes, struct span span);
void bytes_format(struct bytes *bytes, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* A span as the text of a JSON string, without the quotes. */
void bytes_json(struct bytes *bytes, struct span text);

/* Drops so many from the front, at most what is there. */
void bytes_take(struct bytes *bytes, size_t count);
void bytes_clear(struct bytes *bytes);
void bytes_done(struct bytes *bytes);
