/* log_socket.h - the sockets that log lines come in by. */
#pragma once

#include <stdint.h>

#include "spoa/observe/address.h"

/* Bytes of receive buffer that keep 3000 lines of a burst while nobody reads. */
enum { LOG_SOCKET_ROOM = 4 * 1024 * 1024 };

/* Bound, non-blocking, and listening if it is a stream. type: SOCK_DGRAM or
 * SOCK_STREAM. A socket left behind at a unix path is replaced. text: for the
 * reason when it fails. */
MUST_CHECK bool log_socket_open(int type, const struct socket_address *address, const char *text,
                                int *ret_fd, struct error *error);
/* text is "fd@N", a socket that was handed to us: datagrams, or a stream that listens.
 * It becomes ours to close; what it is bound to stays its owner's. */
MUST_CHECK bool log_socket_adopt(const char *text, int *ret_fd, int *ret_type, struct error *error);
/* Bytes of receive buffer that the kernel gave. */
int log_socket_room(int fd);
bool log_socket_address(int fd, struct socket_address *ret_address);
/* 0 when it has none. */
uint16_t log_socket_port(int fd);
