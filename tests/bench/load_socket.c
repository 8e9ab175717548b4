/* load_socket.c - an address as the agent's own options write it, and a connection to it. */
#include "tests/bench/load_socket.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int load_socket_connect(const char *address, int type)
{
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	struct sockaddr_in ip = { .sin_family = AF_INET };
	bool is_unix = strncmp(address, "unix:", 5) == 0;
	const char *colon = strrchr(address, ':');
	char host[64] = "";
	int on = 1, fd;

	if (is_unix) {
		(void)snprintf(path.sun_path, sizeof(path.sun_path), "%s", address + 5);
	} else if (colon && (size_t)(colon - address) < sizeof(host)) {
		memcpy(host, address, (size_t)(colon - address));
		ip.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	}
	if (!is_unix && inet_pton(AF_INET, host, &ip.sin_addr) != 1)
		return -1;
	fd = socket(is_unix ? AF_UNIX : AF_INET, type, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, is_unix ? (struct sockaddr *)&path : (struct sockaddr *)&ip,
	            is_unix ? sizeof(path) : sizeof(ip)) != 0) {
		(void)close(fd);
		return -1;
	}
	if (!is_unix && type == SOCK_STREAM)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}
