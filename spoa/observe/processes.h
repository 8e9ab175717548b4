/* processes.h - which HAProxy process wrote a log line: by the host and pid in it.
 *
 * One source is several processes over time, and over a reload two at once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/span.h"
#include "policies/core/target.h"

enum { PROCESSES_MAX = 8 }; /* the last so many are known */

struct processes {
	char host[NAME_MAX_BYTES]; /* as the newest calls it */
	uint32_t pids[PROCESSES_MAX];
	uint32_t count; /* ever */
};

/* The process that answers now. Noting the newest again changes nothing. */
void processes_note(struct processes *processes, struct span host, uint32_t pid);
/* host empty: any. */
bool processes_have(const struct processes *processes, struct span host, uint32_t pid);

/* "host/pid" in two; false when it is not that. */
bool process_read(struct span text, struct span *ret_host, uint32_t *ret_pid);
