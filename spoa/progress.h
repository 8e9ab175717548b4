/* progress.h - how far a long command has come, on standard error. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool plain;          /* a line each tenth, for logs; else a bar, and only on a terminal */
	bool shown;          /* something stands on the terminal's line */
	int64_t from, drawn; /* ms */
	int tenth;
	char what[64];
};

/* plain: asked for by --progress=plain. */
struct progress progress_new(bool plain);
/* Another piece of work begins. */
void progress_begin(struct progress *progress, const char *what);
/* data is the struct progress. At most ten times a second. */
void progress_show(void *data, double share);
/* The line is cleared. */
void progress_end(struct progress *progress);
