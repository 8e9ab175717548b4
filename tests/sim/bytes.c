/* bytes.c - one block of memory, and two marks in it.
 *
 * What was consumed is won back when room is short, by moving the rest to the front; an empty run
 * starts at the front again for nothing. */
#include "tests/sim/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096 };

struct span bytes_span(const struct bytes *bytes)
{
	return (struct span){ bytes->data + bytes->from, bytes->to - bytes->from };
}

size_t bytes_len(const struct bytes *bytes)
{
	return bytes->to - bytes->from;
}

static void grow(struct bytes *bytes, size_t need)
{
	size_t capacity = bytes->capacity > 0 ? bytes->capacity : FIRST_CAPACITY;
	char *data;

	while (capacity < need)
		capacity *= 2;
	data = realloc(bytes->data, capacity);
	if (!data) {
		(void)fprintf(stderr, "out of memory\n");
		abort();
	}
	bytes->data = data;
	bytes->capacity = capacity;
}

char *bytes_room(struct bytes *bytes, size_t room)
{
	size_t len = bytes_len(bytes);

	if (bytes->capacity - bytes->to < room && bytes->from > 0) {
		memmove(bytes->data, bytes->data + bytes->from, len);
		bytes->from = 0;
		bytes->to = len;
	}
	if (bytes->capacity - bytes->to < room)
		grow(bytes, bytes->to + room);
	return bytes->data + bytes->to;
}

void bytes_added(struct bytes *bytes, size_t count)
{
	bytes->to += count;
}

void bytes_add(struct bytes *bytes, const char *data, size_t len)
{
	if (len == 0)
		return;
	memcpy(bytes_room(bytes, len), data, len);
	bytes->to += len;
}

void bytes_text(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

void bytes_span_add(struct bytes *bytes, struct span span)
{
	bytes_add(bytes, span.at, span.len);
}

void bytes_format(struct bytes *bytes, const char *format, ...)
{
	va_list arguments;
	size_t room = 256;
	int len;

	va_start(arguments, format);
	len = vsnprintf(bytes_room(bytes, room), room, format, arguments);
	va_end(arguments);
	if (len < 0)
		return;
	if ((size_t)len >= room) {
		room = (size_t)len + 1;
		va_start(arguments, format);
		len = vsnprintf(bytes_room(bytes, room), room, format, arguments);
		va_end(arguments);
	}
	bytes->to += (size_t)len;
}

void bytes_json(struct bytes *bytes, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.at[i];

		if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f)
			bytes_format(bytes, "\\u%04x", c);
		else
			bytes_add(bytes, &text.at[i], 1);
	}
}

void bytes_take(struct bytes *bytes, size_t count)
{
	size_t len = bytes_len(bytes);

	bytes->from += count < len ? count : len;
	if (bytes->from == bytes->to)
		bytes->from = bytes->to = 0;
}

void bytes_clear(struct bytes *bytes)
{
	bytes->from = bytes->to = 0;
}

void bytes_done(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}
