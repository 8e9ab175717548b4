/* lines.c - cuts a stream of bytes into lines.
 *
 * Whole lines are handed out where they lie; only the one that an arrival cuts in
 * two is copied. */
#include "spoa/observe/lines.h"

#include <string.h>

void lines_init(struct lines *lines)
{
	lines->used = 0;
	lines->passing = false;
	lines->too_long = 0;
}

static struct span trimmed(struct span line)
{
	if (line.len > 0 && line.at[line.len - 1] == '\r')
		line.len--;
	return line;
}

/* Keeps the beginning of a line, if it may still become one. */
static void keep(struct lines *lines, struct span part)
{
	if (lines->passing)
		return;
	if (part.len > sizeof(lines->kept) - lines->used) {
		lines->passing = true;
		lines->used = 0;
		lines->too_long++;
		return;
	}
	memcpy(lines->kept + lines->used, part.at, part.len);
	lines->used += part.len;
}

/* The line that ends here began earlier. */
static void finish(struct lines *lines, struct span part,
                   void (*on_line)(void *data, struct span line), void *data)
{
	keep(lines, part);
	if (!lines->passing)
		on_line(data, trimmed((struct span){ lines->kept, lines->used }));
	lines->used = 0;
	lines->passing = false;
}

void lines_feed(struct lines *lines, struct span bytes,
                void (*on_line)(void *data, struct span line), void *data)
{
	while (bytes.len > 0) {
		const char *end = memchr(bytes.at, '\n', bytes.len);
		struct span part = { bytes.at, end ? (size_t)(end - bytes.at) : bytes.len };

		if (!end)
			keep(lines, part);
		else if (lines->used > 0 || lines->passing || part.len > LINE_MAX_BYTES)
			finish(lines, part, on_line, data);
		else
			on_line(data, trimmed(part));
		part.len += end ? 1 : 0;
		bytes.at += part.len;
		bytes.len -= part.len;
	}
}

bool lines_cut(const struct lines *lines)
{
	return lines->used > 0 || lines->passing;
}
