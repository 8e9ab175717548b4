/* listener.h - one listening socket. */
#pragma once

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policies/core/error.h"

struct spop_server;
struct spop_listen_options;

struct listener {
	struct spop_server *server;
	ev_io accepting;
	ev_timer pause; /* no descriptor left: wait a little instead of spinning */
	int fd;         /* -1 once closed */
	uint32_t source;
	char *path; /* of the file we made; NULL if none */
	dev_t device;
	ino_t inode;
};

/* Makes the socket and starts to accept. On failure nothing is left behind. */
MUST_CHECK bool listener_open(struct listener *listener, struct spop_server *server,
                              const char *address, const struct spop_listen_options *options,
                              struct error *error);
/* Stops; removes the file if it is still ours. May be called twice. */
void listener_close(struct listener *listener);
uint16_t listener_port(const struct listener *listener);
