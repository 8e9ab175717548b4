/* log_socket.c - opens the sockets that log lines come in by. */
#include "spoa/observe/log_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

/* A socket that a dead process of ours left behind is in the way; a file of
 * anybody else is not ours to remove. */
static void clear_path(const struct sockaddr *address)
{
	const char *path = ((const struct sockaddr_un *)address)->sun_path;
	struct stat status;

	if (address->sa_family == AF_UNIX && lstat(path, &status) == 0 && S_ISSOCK(status.st_mode))
		(void)unlink(path);
}

/* Whoever runs HAProxy writes here, as to /dev/log; the directory keeps others out. */
static void open_path(const struct sockaddr *address)
{
	if (address->sa_family == AF_UNIX)
		(void)chmod(((const struct sockaddr_un *)address)->sun_path, 0666);
}

static void prepare(int fd, int type)
{
	int on = 1, room = LOG_SOCKET_ROOM;

	if (type == SOCK_STREAM) {
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		return;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));
	/* Root may ask for more than net.core.rmem_max. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}

bool log_socket_open(int type, const struct socket_address *address, const char *text, int *ret_fd,
                     struct error *error)
{
	const struct sockaddr *to = (const struct sockaddr *)&address->storage;
	int fd = socket(to->sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return error_set(error, "%s: %s", text, strerror(errno));
	prepare(fd, type);
	clear_path(to);
	if (bind(fd, to, address->length) == 0 &&
	    (type != SOCK_STREAM || listen(fd, BACKLOG) == 0)) {
		open_path(to);
		*ret_fd = fd;
		return true;
	}
	(void)error_set(error, "%s: %s", text, strerror(errno));
	(void)close(fd);
	return false;
}

static int option_of(int fd, int option)
{
	int value = 0;
	socklen_t size = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool log_socket_adopt(const char *text, int *ret_fd, int *ret_type, struct error *error)
{
	const char *number = text + strlen("fd@");
	char *end = NULL;
	long fd = *number >= '0' && *number <= '9' ? strtol(number, &end, 10) : -1;
	int flags, type;

	if (fd < 0 || fd > 1 << 20 || *end)
		return error_set(error, "%s: expected the number of a descriptor", text);
	type = option_of((int)fd, SO_TYPE);
	flags = fcntl((int)fd, F_GETFL);
	if (type != SOCK_DGRAM && (type != SOCK_STREAM || option_of((int)fd, SO_ACCEPTCONN) != 1))
		return error_set(error, "%s: neither a datagram socket nor one that listens", text);
	if (flags < 0 || fcntl((int)fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0)
		return error_set(error, "%s: %s", text, strerror(errno));
	prepare((int)fd, type);
	*ret_fd = (int)fd;
	*ret_type = type;
	return true;
}

int log_socket_room(int fd)
{
	int room = option_of(fd, SO_RCVBUF);

	return room > 0 ? room : 0;
}

bool log_socket_address(int fd, struct socket_address *ret_address)
{
	struct socket_address address = { .length = sizeof(address.storage) };

	if (getsockname(fd, (struct sockaddr *)&address.storage, &address.length) != 0)
		return false;
	*ret_address = address;
	return true;
}

uint16_t log_socket_port(int fd)
{
	struct socket_address address;
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	if (!log_socket_address(fd, &address))
		return 0;
	memcpy(&four, &address.storage, sizeof(four));
	memcpy(&six, &address.storage, sizeof(six));
	if (address.storage.ss_family == AF_INET)
		return ntohs(four.sin_port);
	return address.storage.ss_family == AF_INET6 ? ntohs(six.sin6_port) : 0;
}
