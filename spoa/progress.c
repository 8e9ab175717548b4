/* progress.c - a bar with the time that is left, redrawn in place. */
#include "spoa/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 30, REDRAW_MS = 100 };

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct progress progress_new(bool plain)
{
	return (struct progress){ .plain = plain };
}

void progress_begin(struct progress *progress, const char *what)
{
	(void)snprintf(progress->what, sizeof(progress->what), "%s", what);
	progress->from = now_ms();
	progress->drawn = 0;
	progress->tenth = 0;
}

static void show_plain(struct progress *progress, double share)
{
	int tenth = (int)(share * 10);

	if (tenth <= progress->tenth)
		return;
	progress->tenth = tenth;
	(void)fprintf(stderr, "%s: %d %%\n", progress->what, tenth * 10);
}

static void show_bar(struct progress *progress, double share, int64_t now)
{
	int done = (int)(share * WIDTH);
	double left = share > 0 ? (double)(now - progress->from) * (1 - share) / share / 1000 : 0;
	char bar[WIDTH + 1];

	memset(bar, '.', WIDTH);
	memset(bar, '#', (size_t)(done < 0 ? 0 : done > WIDTH ? WIDTH : done));
	bar[WIDTH] = '\0';
	(void)fprintf(stderr, "\r%-24.24s [%s] %3.0f %%  %.0f s left \033[K", progress->what, bar,
	              100 * share, left);
	(void)fflush(stderr);
	progress->shown = true;
}

void progress_show(void *data, double share)
{
	struct progress *progress = data;
	int64_t now = now_ms();

	if (progress->plain) {
		show_plain(progress, share);
		return;
	}
	if (now - progress->drawn < REDRAW_MS || !isatty(STDERR_FILENO))
		return;
	progress->drawn = now;
	show_bar(progress, share, now);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		(void)fputs("\r\033[K", stderr);
	progress->shown = false;
}
