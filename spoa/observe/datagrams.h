/* datagrams.h - a socket's datagrams as lines, many a system call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"

struct datagrams; /* the buffers; any socket's */

/* NULL when out of memory. */
MUST_CHECK struct datagrams *datagrams_new(void);
void datagrams_free(struct datagrams *datagrams);

struct datagrams_read {
	bool any;          /* something came */
	uint32_t too_long; /* beyond LINE_MAX_BYTES: dropped */
	bool drops_known;  /* the kernel said how many it has dropped in all, wrapping */
	uint32_t drops;
};

/* Reads what waits, of one socket at most so much that decisions do not wait for lines.
 * on_line gets each without the newlines and NULs at its end, good for the call. */
struct datagrams_read datagrams_read(struct datagrams *datagrams, int fd,
                                     void (*on_line)(void *data, struct span line), void *data);
