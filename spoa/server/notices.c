/* notices.c - one line a second of most kinds; the rest is only counted. */
#include "spoa/server/notices.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 320 };

#define AS_LEVEL(id, level, limit) level,
static const int levels[] = { NOTICES(AS_LEVEL) };
#undef AS_LEVEL

#define AS_LIMIT(id, level, limit) limit,
static const bool limited[] = { NOTICES(AS_LIMIT) };
#undef AS_LIMIT

/* Some words are a peer's: they stay on one line and in one alphabet. */
static void make_plain(char *line)
{
	for (; *line; line++)
		if ((unsigned char)*line < ' ' || (unsigned char)*line > '~')
			*line = '?';
}

void notices_init(struct notices *notices, const struct notice_sink *sink)
{
	memset(notices, 0, sizeof(*notices));
	notices->sink = *sink;
}

void notices_say(struct notices *notices, enum notice notice, usec_t now, const char *format, ...)
{
	char line[LINE_BYTES];
	usec_t said_at = notices->kinds[notice].said_at;
	uint64_t held_back = notices->kinds[notice].held_back;
	size_t length;
	va_list args;

	if (!notices->sink.write)
		return;
	if (limited[notice] && said_at != 0 && now < said_at + SECOND) {
		notices->kinds[notice].held_back++;
		return;
	}
	notices->kinds[notice].said_at = now ? now : 1;
	notices->kinds[notice].held_back = 0;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	make_plain(line);
	length = strlen(line);
	if (held_back > 0)
		(void)snprintf(line + length, sizeof(line) - length,
		               " (and %" PRIu64 " more of this kind)", held_back);
	notices->sink.write(notices->sink.data, levels[notice], line);
}
