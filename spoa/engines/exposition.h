/* exposition.h - reads the Prometheus text format, sample by sample.
 *
 * Pure, and without memory of its own: spans borrow the page. Comments, and
 * lines that are no samples, are passed over; only samples of a wanted name are
 * read beyond their name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/span.h"

struct exposition {
	struct span rest;
	bool (*wanted)(void *data, struct span name); /* NULL: all */
	void *data;
	uint64_t broken; /* lines that were no samples */
};

struct exposition_sample {
	struct span name;
	struct span labels; /* between the braces; empty without */
	double value;       /* may be infinite, or not a number */
};

/* The next sample of a wanted name; false at the end of the page. */
bool exposition_next(struct exposition *exposition, struct exposition_sample *ret_sample);
/* Value of a label as it stands between its quotes (escapes are left as they are).
 * False when there is no such label. */
bool exposition_label(struct span labels, const char *name, struct span *ret_value);
