/* address.h - where to listen, as the operator writes it. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "policies/core/error.h"

struct listen_address {
	int fd; /* "fd@3": inherited; -1 otherwise, and the rest holds */
	struct sockaddr_storage socket;
	socklen_t length;
};

/* "127.0.0.1:9000", "[::1]:9000", "unix:/path", "unix@/path", "fd@3". Numbers
 * only: no name is looked up. */
MUST_CHECK bool address_parse(const char *text, struct listen_address *ret_address,
                              struct error *error);
/* Its file; NULL if it is not a unix socket. */
const char *address_path(const struct listen_address *address);
