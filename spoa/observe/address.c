/* address.c - where to connect or to listen. */
#include "spoa/observe/address.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { HOST_MAX = 256 };

bool address_unix(const char *path, struct socket_address *ret_address, struct error *error)
{
	struct socket_address address = { .length = sizeof(struct sockaddr_un) };
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	if (!*path || strlen(path) >= sizeof(un.sun_path))
		return error_set(error, "%s: a path of 1 to %zu bytes is expected", path,
		                 sizeof(un.sun_path) - 1);
	memcpy(un.sun_path, path, strlen(path));
	memcpy(&address.storage, &un, sizeof(un));
	*ret_address = address;
	return true;
}

/* getaddrinfo() takes any number and cuts it. */
static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits <= 5 && text[digits] == 0 && strtoul(text, NULL, 10) <= 65535;
}

/* flags: of getaddrinfo. */
static bool look_up(const char *text, int flags, struct socket_address *ret_address,
                    struct error *error)
{
	struct addrinfo hints = { .ai_flags = flags | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	const char *colon = strrchr(text, ':');
	char host[HOST_MAX];
	size_t length = colon ? (size_t)(colon - text) : 0;
	int failed;

	if (!colon || length == 0 || length >= sizeof(host) || !is_port(colon + 1))
		return error_set(error, "%s: an address and a port are expected", text);
	if (text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	memcpy(host, text, length);
	host[length] = 0;
	failed = getaddrinfo(host, colon + 1, &hints, &found);
	if (failed)
		return error_set(error, "%s: %s", text, gai_strerror(failed));
	memset(ret_address, 0, sizeof(*ret_address));
	memcpy(&ret_address->storage, found->ai_addr, found->ai_addrlen);
	ret_address->length = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

bool address_ip(const char *text, struct socket_address *ret_address, struct error *error)
{
	return look_up(text, AI_NUMERICHOST | AI_PASSIVE, ret_address, error);
}

bool address_read(const char *text, struct socket_address *ret_address, struct error *error)
{
	static const char scheme[] = "unix:";

	if (strncmp(text, scheme, sizeof(scheme) - 1) == 0)
		return address_unix(text + sizeof(scheme) - 1, ret_address, error);
	if (text[0] == '/')
		return address_unix(text, ret_address, error);
	return look_up(text, 0, ret_address, error);
}
