/* line_watch.c - decisions since the last end line, and when the first of them was. */
#include "spoa/line_watch.h"

void line_watch_decided(struct line_watch *watch, usec_t now)
{
	if (watch->decided++ == 0)
		watch->since = now;
}

void line_watch_line(struct line_watch *watch)
{
	watch->decided = 0;
}

bool line_watch_missing(const struct line_watch *watch, uint32_t open, usec_t now)
{
	if (watch->decided == 0 || now <= watch->since + LINE_WATCH_PATIENCE)
		return false;
	return watch->decided > open || now > watch->since + LINE_WATCH_LIMIT;
}
