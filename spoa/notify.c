/* notify.c - datagrams to NOTIFY_SOCKET.
 *
 * An abstract socket is written with '@' in front and has a NUL there. The watchdog may
 * be meant for another process of our family, then WATCHDOG_PID says for which. */
#include "spoa/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { TEXT_MAX = 512, PATIENCE_US = 100000 };

static usec_t number_in(const char *variable)
{
	const char *text = getenv(variable);
	char *end = NULL;
	unsigned long long number;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' ? number : 0;
}

static int connected_to(const char *path)
{
	const struct timeval patience = { .tv_usec = PATIENCE_US };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t length = strlen(path);
	int fd;

	if ((path[0] != '/' && path[0] != '@') || length >= sizeof(to.sun_path))
		return -1;
	memcpy(to.sun_path, path, length);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
	    connect(fd, (const struct sockaddr *)&to,
	            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

void notify_open(struct notify *notify)
{
	const char *path = getenv("NOTIFY_SOCKET");
	usec_t pid = number_in("WATCHDOG_PID");

	*notify = (struct notify){ .fd = path ? connected_to(path) : -1 };
	if (notify->fd >= 0 && (pid == 0 || pid == (usec_t)getpid()))
		notify->watchdog = number_in("WATCHDOG_USEC");
}

void notify_close(struct notify *notify)
{
	if (notify->fd >= 0)
		(void)close(notify->fd);
	*notify = (struct notify){ .fd = -1 };
}

void notify_tell(const struct notify *notify, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list rest;

	if (notify->fd < 0)
		return;
	va_start(rest, format);
	(void)vsnprintf(text, sizeof(text), format, rest);
	va_end(rest);
	(void)send(notify->fd, text, strlen(text), MSG_NOSIGNAL);
}

void notify_alive(const struct notify *notify)
{
	static const char text[] = "WATCHDOG=1";

	if (notify->fd >= 0)
		(void)send(notify->fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}
