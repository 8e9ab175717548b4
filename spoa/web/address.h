/* address.h - turns "127.0.0.1:9901", "[::1]:9901", "unix:/path" or "fd@3" into a
 * socket that listens. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	ADDRESS_PATH_MAX = 108, /* sun_path, with its NUL */
	ADDRESS_REASON_MAX = 256,
};

struct listening {
	int fd;
	uint16_t port;               /* as bound, host order; 0 for a unix socket */
	char path[ADDRESS_PATH_MAX]; /* "" for TCP */
	dev_t device;                /* of the unix socket's file */
	ino_t inode;
};

/* Non-blocking, close-on-exec. False, and why in ret_reason (ADDRESS_REASON_MAX
 * bytes), when it cannot be had. A unix socket gets exactly this mode; a file at
 * its path is replaced only if it is a socket that nobody serves. "fd@N" listens
 * already; it becomes ours to close, its file is its owner's. */
__attribute__((warn_unused_result)) bool
address_listen(const char *address, mode_t mode, struct listening *ret_listening, char *ret_reason);

/* Removes the file of a unix socket if it is still the one we made; the fd stays
 * as it is. */
void address_unlink(const struct listening *listening);
