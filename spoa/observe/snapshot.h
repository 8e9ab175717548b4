/* snapshot.h - one answer of HAProxy, ready for the fleet.
 *
 * The arrays grow with the fleet and are used again; what they borrow is the
 * text, so a snapshot is good as long as that. */
#pragma once

#include "policies/state/fleet.h"
#include "spoa/observe/runtime_text.h"

struct snapshot {
	struct runtime_facts read; /* read.servers is ours */
	struct server_fact *facts; /* as many as read.count, in the same order */
};

/* Zeroed is a good start. */
void snapshot_done(struct snapshot *snapshot);
/* False when it is no answer of HAProxy. What finds no room in 65536 servers, or no
 * memory, is left out and counted in read.left_out. */
MUST_CHECK bool snapshot_read(struct snapshot *snapshot, struct span text);
