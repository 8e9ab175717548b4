/* inherited.h - sockets that the service manager opened for us and keeps when we go.
 *
 * The protocol of systemd's sd_listen_fds(3): LISTEN_FDS descriptors from number 3 on,
 * named by LISTEN_FDNAMES (FileDescriptorName= of the socket unit), meant for the process
 * LISTEN_PID. What a peer sends while one process goes and the next comes waits in them. */
#pragma once

#include <stdint.h>

#include "policies/core/error.h"

enum { INHERITED_FIRST = 3, INHERITED_MAX = 16, INHERITED_NAME_MAX = 64 };

struct inherited {
	uint32_t count; /* number i is descriptor INHERITED_FIRST + i */
	char names[INHERITED_MAX][INHERITED_NAME_MAX]; /* "" where there was none */
};

/* Nothing for us: count 0, which is no error. False: more than INHERITED_MAX, or a name
 * that does not fit. */
MUST_CHECK bool inherited_read(struct inherited *ret_inherited, struct error *error);
