/* address.c - sockets that listen, on loopback or as a file.
 *
 * Hosts are numbers, never names: a resolver may wait. The socket's mode is set
 * before it has a file, so that at no time more may connect than shall. */
#include "spoa/web/address.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128 };

__attribute__((format(printf, 2, 3))) static bool refuse(char *ret_reason, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(ret_reason, ADDRESS_REASON_MAX, format, args);
	va_end(args);
	return false;
}

/* For errno after a failed call: closes the socket, keeps the reason. */
static bool give_up(int fd, const char *address, const char *what, char *ret_reason)
{
	int why = errno;

	if (fd >= 0)
		(void)close(fd);
	return refuse(ret_reason, "%s: %s: %s", address, what, strerrordesc_np(why));
}

static bool served(const struct sockaddr_un *name)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool answers;

	if (fd < 0)
		return true;
	/* EAGAIN: its backlog is full, so somebody holds it. */
	answers = connect(fd, (const struct sockaddr *)name, sizeof(*name)) == 0 ||
	          errno != ECONNREFUSED;
	(void)close(fd);
	return answers;
}

/* Makes room for our file, if what lies there is a socket left behind. */
static bool take_over(const struct sockaddr_un *name, const char *address, char *ret_reason)
{
	struct stat found;

	if (lstat(name->sun_path, &found) != 0)
		return errno == ENOENT || give_up(-1, address, "cannot look", ret_reason);
	if (!S_ISSOCK(found.st_mode))
		return refuse(ret_reason, "%s: a file that is no socket is in the way", address);
	if (served(name))
		return refuse(ret_reason, "%s: another process serves it", address);
	if (unlink(name->sun_path) != 0 && errno != ENOENT)
		return give_up(-1, address, "cannot replace the old socket", ret_reason);
	return true;
}

static bool listen_unix(const char *address, mode_t mode, struct listening *ret_listening,
                        char *ret_reason)
{
	const char *path = address + strlen("unix:");
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct listening made = { .fd = -1 };
	struct stat file;

	if (path[0] != '/' || strlen(path) >= sizeof(name.sun_path))
		return refuse(ret_reason, "%s: expected an absolute path of at most %zu bytes",
		              address, sizeof(name.sun_path) - 1);
	memcpy(name.sun_path, path, strlen(path) + 1);
	memcpy(made.path, path, strlen(path) + 1);
	if (!take_over(&name, address, ret_reason))
		return false;
	made.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (made.fd < 0 || fchmod(made.fd, mode) != 0 ||
	    bind(made.fd, (const struct sockaddr *)&name, sizeof(name)) != 0)
		return give_up(made.fd, address, "cannot bind", ret_reason);
	if (chmod(path, mode) != 0 || lstat(path, &file) != 0 || listen(made.fd, BACKLOG) != 0) {
		(void)give_up(made.fd, address, "cannot listen", ret_reason);
		(void)unlink(path);
		return false;
	}
	made.device = file.st_dev;
	made.inode = file.st_ino;
	*ret_listening = made;
	return true;
}

/* "host:port" or "[host]:port", split at the last colon. */
static bool resolve(const char *address, struct addrinfo **ret_found, char *ret_reason)
{
	const char *colon = strrchr(address, ':');
	const struct addrinfo wanted = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	char host[64];
	const char *at = address;
	size_t len = colon ? (size_t)(colon - address) : 0;

	if (len >= 2 && at[0] == '[' && at[len - 1] == ']') {
		at++;
		len -= 2;
	}
	if (len == 0 || len >= sizeof(host))
		return refuse(ret_reason, "%s: expected ip:port, [ip6]:port or unix:/path",
		              address);
	memcpy(host, at, len);
	host[len] = '\0';
	if (getaddrinfo(host, colon + 1, &wanted, ret_found) != 0)
		return refuse(ret_reason, "%s: expected ip:port, [ip6]:port or unix:/path",
		              address);
	return true;
}

static uint16_t port_of(int fd)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in in4;
		struct sockaddr_in6 in6;
	} name = { 0 };
	socklen_t size = sizeof(name);

	if (getsockname(fd, (struct sockaddr *)&name.any, &size) != 0 ||
	    name.any.ss_family == AF_UNIX)
		return 0;
	return ntohs(name.any.ss_family == AF_INET6 ? name.in6.sin6_port : name.in4.sin_port);
}

static bool listen_tcp(const char *address, struct listening *ret_listening, char *ret_reason)
{
	const int on = 1;
	struct addrinfo *found = NULL;
	int fd;

	if (!resolve(address, &found, ret_reason) || !found)
		return false;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
		(void)give_up(fd, address, "cannot listen", ret_reason);
		freeaddrinfo(found);
		return false;
	}
	freeaddrinfo(found);
	*ret_listening = (struct listening){ .fd = fd, .port = port_of(fd) };
	return true;
}

static bool adopt(const char *address, struct listening *ret_listening, char *ret_reason)
{
	const char *number = address + strlen("fd@");
	char *end = NULL;
	long fd = *number >= '0' && *number <= '9' ? strtol(number, &end, 10) : -1;
	int listens = 0, flags;
	socklen_t size = sizeof(listens);

	if (fd < 0 || fd > 1 << 20 || *end)
		return refuse(ret_reason, "%s: expected the number of a descriptor", address);
	if (getsockopt((int)fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens)
		return refuse(ret_reason, "%s: not a listening socket", address);
	flags = fcntl((int)fd, F_GETFL);
	if (flags < 0 || fcntl((int)fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0)
		return refuse(ret_reason, "%s: %s", address, strerrordesc_np(errno));
	*ret_listening = (struct listening){ .fd = (int)fd, .port = port_of((int)fd) };
	return true;
}

bool address_listen(const char *address, mode_t mode, struct listening *ret_listening,
                    char *ret_reason)
{
	if (strncmp(address, "fd@", strlen("fd@")) == 0)
		return adopt(address, ret_listening, ret_reason);
	if (strncmp(address, "unix:", strlen("unix:")) == 0)
		return listen_unix(address, mode, ret_listening, ret_reason);
	return listen_tcp(address, ret_listening, ret_reason);
}

void address_unlink(const struct listening *listening)
{
	struct stat file;

	if (listening->path[0] != '\0' && lstat(listening->path, &file) == 0 &&
	    file.st_dev == listening->device && file.st_ino == listening->inode)
		(void)unlink(listening->path);
}
