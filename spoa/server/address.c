/* address.c - numbers, a path, or a descriptor. */
#include "spoa/server/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_MAX = 65535, FD_MAX = 1 << 20 };

static bool number_parse(const char *text, long max, long *ret_number)
{
	char *end;
	long number;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno != 0 || *end != '\0' || number > max)
		return false;
	*ret_number = number;
	return true;
}

static bool path_parse(const char *path, struct listen_address *address, struct error *error)
{
	struct sockaddr_un *unix_socket = (struct sockaddr_un *)&address->socket;
	size_t length = strlen(path);

	if (path[0] != '/')
		return error_set(error, "%s: expected an absolute path", path);
	if (length >= sizeof(unix_socket->sun_path))
		return error_set(error, "%s: longer than %zu bytes", path,
		                 sizeof(unix_socket->sun_path) - 1);
	unix_socket->sun_family = AF_UNIX;
	memcpy(unix_socket->sun_path, path, length + 1);
	address->length = sizeof(*unix_socket);
	return true;
}

/* host is without brackets; a NULL port means there was no colon. */
static bool tcp_parse(const char *text, const char *host, bool is_ipv6, const char *port_text,
                      struct listen_address *address, struct error *error)
{
	struct sockaddr_in *ipv4 = (struct sockaddr_in *)&address->socket;
	struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)&address->socket;
	long port;

	if (!port_text || !number_parse(port_text, PORT_MAX, &port))
		return error_set(error, "%s: expected a port, 0 to 65535, after the last colon",
		                 text);
	if (is_ipv6 && inet_pton(AF_INET6, host, &ipv6->sin6_addr) == 1) {
		ipv6->sin6_family = AF_INET6;
		ipv6->sin6_port = htons((uint16_t)port);
		address->length = sizeof(*ipv6);
		return true;
	}
	if (!is_ipv6 && inet_pton(AF_INET, host, &ipv4->sin_addr) == 1) {
		ipv4->sin_family = AF_INET;
		ipv4->sin_port = htons((uint16_t)port);
		address->length = sizeof(*ipv4);
		return true;
	}
	return error_set(error,
	                 "%s: expected 127.0.0.1:9000, [::1]:9000, unix:/path, unix@/path or fd@3",
	                 text);
}

static bool ip_parse(const char *text, struct listen_address *address, struct error *error)
{
	char host[INET6_ADDRSTRLEN + 2];
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text);
	bool bracketed = length >= 2 && text[0] == '[' && text[length - 1] == ']';

	if (length >= sizeof(host))
		return error_set(error, "%s: no address", text);
	memcpy(host, text + bracketed, length - 2 * bracketed);
	host[length - 2 * bracketed] = '\0';
	return tcp_parse(text, host, bracketed, colon ? colon + 1 : NULL, address, error);
}

bool address_parse(const char *text, struct listen_address *ret_address, struct error *error)
{
	struct listen_address address = { .fd = -1 };
	bool good;
	long fd;

	if (strncmp(text, "fd@", 3) == 0) {
		if (!number_parse(text + 3, FD_MAX, &fd))
			return error_set(error, "%s: expected the number of a descriptor", text);
		address.fd = (int)fd;
		good = true;
	} else if (strncmp(text, "unix:", 5) == 0 || strncmp(text, "unix@", 5) == 0) {
		good = path_parse(text + 5, &address, error);
	} else {
		good = ip_parse(text, &address, error);
	}
	if (good)
		*ret_address = address;
	return good;
}

const char *address_path(const struct listen_address *address)
{
	return address->fd < 0 && address->socket.ss_family == AF_UNIX
	               ? ((const struct sockaddr_un *)&address->socket)->sun_path
	               : NULL;
}
