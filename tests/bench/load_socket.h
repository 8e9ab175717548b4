/* load_socket.h - connects to the agent. */
#pragma once

/* HOST:PORT or unix:PATH; type: SOCK_STREAM or SOCK_DGRAM. -1, with errno, when nobody listens
 * there. Blocking, and without delay. */
int load_socket_connect(const char *address, int type);
