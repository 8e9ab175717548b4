/* lines.h - cuts a stream of bytes into lines, however it arrives.
 *
 * A line longer than LINE_MAX_BYTES is passed over and counted, so a peer that
 * never ends its line costs no more memory than one that does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/span.h"

enum { LINE_MAX_BYTES = 4096 };

struct lines {
	char kept[LINE_MAX_BYTES]; /* the line begun, not yet ended */
	size_t used;
	bool passing; /* over a line that is too long */
	uint64_t too_long;
};

void lines_init(struct lines *lines);
/* Calls on_line for each line that ends in these bytes, without its newline. The
 * span is good for the length of the call. */
void lines_feed(struct lines *lines, struct span bytes,
                void (*on_line)(void *data, struct span line), void *data);
/* The stream has ended: true when a line was begun and is lost. */
bool lines_cut(const struct lines *lines);
