/* host_port.h - HOST:PORT, as it is written into a haproxy.cfg. */
#pragma once

#include "policies/core/error.h"
#include "policies/core/span.h"

/* Reads "127.0.0.1:9902", "name:9902" or "[::1]:9902"; the host is without its brackets, within
 * text. The port is 1 to 65535. */
MUST_CHECK bool host_port_read(const char *text, struct span *ret_host, unsigned *ret_port,
                               struct error *error);
