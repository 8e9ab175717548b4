/* address.h - where to connect or to listen, as the operator writes it. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "policies/core/error.h"

struct socket_address {
	struct sockaddr_storage storage;
	socklen_t length;
};

/* "/path" or "unix:/path"; "host:port" or "[ip6]:port". A name is looked up, which
 * may block. False with a reason. */
MUST_CHECK bool address_read(const char *text, struct socket_address *ret_address,
                             struct error *error);
/* Only a path. */
MUST_CHECK bool address_unix(const char *path, struct socket_address *ret_address,
                             struct error *error);
/* Only an address that a socket can be bound to; a number for the port, 0 allowed. */
MUST_CHECK bool address_ip(const char *text, struct socket_address *ret_address,
                           struct error *error);
