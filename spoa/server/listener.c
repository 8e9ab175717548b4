/* listener.c - make a socket, take connections from it in batches.
 *
 * A reload of HAProxy is a burst of new connections, so the backlog is long and
 * a turn takes many, but not all: other connections want their turn too.
 *
 * A socket file that is left from a process that died refuses connections; only
 * then it is replaced. Owner and mode are set before listen(), so that nobody
 * gets in by the mode it was born with. */
#include "spoa/server/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spoa/server/address.h"
#include "spoa/server/connection.h"
#include "spoa/server/state.h"

enum { BATCH = 64, BACKLOG = 1024, MODE = 0660 };

#define PAUSE_SECONDS 0.1

/* Somebody answers there: yes, no, or it is no socket of a dead process at all. */
static bool is_stale(const struct listen_address *address, const char *path, struct error *error)
{
	struct stat file;
	int probe, failed;

	if (lstat(path, &file) != 0 || !S_ISSOCK(file.st_mode))
		return error_set(error, "%s: exists and is not a socket", path);
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	failed = connect(probe, (const struct sockaddr *)&address->socket, address->length) == 0
	                 ? 0
	                 : errno;
	(void)close(probe);
	return failed == ECONNREFUSED ||
	       error_set(error, "%s: another process answers there", path);
}

static bool bind_to(int fd, const struct listen_address *address, const char *text,
                    struct error *error)
{
	const struct sockaddr *to = (const struct sockaddr *)&address->socket;
	const char *path = address_path(address);

	if (bind(fd, to, address->length) == 0)
		return true;
	if (errno != EADDRINUSE || !path)
		return error_set(error, "%s: %s", text, strerror(errno));
	if (!is_stale(address, path, error))
		return false;
	if (unlink(path) != 0 || bind(fd, to, address->length) != 0)
		return error_set(error, "%s: %s", text, strerror(errno));
	return true;
}

static bool owner_ids(const struct spop_listen_options *options, uid_t *ret_user, gid_t *ret_group,
                      struct error *error)
{
	const struct passwd *user = options->user ? getpwnam(options->user) : NULL;
	const struct group *group = options->group ? getgrnam(options->group) : NULL;

	if (options->user && !user)
		return error_set(error, "%s: no such user", options->user);
	if (options->group && !group)
		return error_set(error, "%s: no such group", options->group);
	*ret_user = user ? user->pw_uid : (uid_t)-1;
	*ret_group = group ? group->gr_gid : (gid_t)-1;
	return true;
}

/* The file is ours from here on: remember which one, and give it to whom it is for. */
static bool file_made(struct listener *listener, const char *path,
                      const struct spop_listen_options *options, struct error *error)
{
	struct stat file;
	uid_t user = (uid_t)-1;
	gid_t group = (gid_t)-1;

	listener->path = strdup(path);
	if (!listener->path || lstat(path, &file) != 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	listener->device = file.st_dev;
	listener->inode = file.st_ino;
	if (!owner_ids(options, &user, &group, error))
		return false;
	if (chmod(path, options->mode ? options->mode : MODE) != 0)
		return error_set(error, "%s: mode: %s", path, strerror(errno));
	if ((options->user || options->group) && lchown(path, user, group) != 0)
		return error_set(error, "%s: owner: %s", path, strerror(errno));
	return true;
}

static bool make_socket(struct listener *listener, const char *text,
                        const struct listen_address *address,
                        const struct spop_listen_options *options, struct error *error)
{
	const char *path = address_path(address);
	int yes = 1;

	listener->fd =
	        socket(address->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener->fd < 0)
		return error_set(error, "%s: %s", text, strerror(errno));
	if (!path)
		(void)setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (!bind_to(listener->fd, address, text, error))
		return false;
	if (path && !file_made(listener, path, options, error))
		return false;
	if (listen(listener->fd, options->backlog ? (int)options->backlog : BACKLOG) != 0)
		return error_set(error, "%s: %s", text, strerror(errno));
	return true;
}

static bool adopt_socket(struct listener *listener, const char *text, int fd, struct error *error)
{
	int listens = 0, flags = fcntl(fd, F_GETFL);
	socklen_t length = sizeof(listens);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || !listens)
		return error_set(error, "%s: not a listening socket", text);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return error_set(error, "%s: %s", text, strerror(errno));
	listener->fd = fd;
	return true;
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct listener *listener = timer->data;

	(void)events;
	ev_timer_stop(loop, timer);
	ev_io_start(loop, &listener->accepting);
}

static void on_acceptable(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct listener *listener = watcher->data;
	struct spop_server *server = listener->server;

	(void)events;
	for (int i = 0; i < BATCH; i++) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			connection_new(server, fd, listener->source);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return;
		notices_say(&server->notices, NOTICE_OF_ACCEPT_FAILED, server->context->now(),
		            "spop: cannot accept: %s", strerror(errno));
		ev_io_stop(loop, watcher);
		ev_timer_set(&listener->pause, PAUSE_SECONDS, 0.);
		ev_timer_start(loop, &listener->pause);
		return;
	}
}

bool listener_open(struct listener *listener, struct spop_server *server, const char *address,
                   const struct spop_listen_options *options, struct error *error)
{
	struct listen_address parsed;

	memset(listener, 0, sizeof(*listener));
	listener->server = server;
	listener->source = options->source;
	listener->fd = -1;
	ev_init(&listener->accepting, on_acceptable);
	ev_timer_init(&listener->pause, on_pause_over, PAUSE_SECONDS, 0.);
	listener->accepting.data = listener->pause.data = listener;
	if (!address_parse(address, &parsed, error))
		return false;
	if (parsed.fd >= 0 ? !adopt_socket(listener, address, parsed.fd, error)
	                   : !make_socket(listener, address, &parsed, options, error)) {
		listener_close(listener);
		return false;
	}
	ev_io_set(&listener->accepting, listener->fd, EV_READ);
	ev_io_start(server->loop, &listener->accepting);
	return true;
}

void listener_close(struct listener *listener)
{
	struct stat file;

	if (listener->fd < 0)
		return;
	ev_io_stop(listener->server->loop, &listener->accepting);
	ev_timer_stop(listener->server->loop, &listener->pause);
	(void)close(listener->fd);
	listener->fd = -1;
	/* A successor may have made another file by this name already. */
	if (listener->path && lstat(listener->path, &file) == 0 &&
	    file.st_dev == listener->device && file.st_ino == listener->inode)
		(void)unlink(listener->path);
	free(listener->path);
	listener->path = NULL;
}

uint16_t listener_port(const struct listener *listener)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);

	if (listener->fd < 0 ||
	    getsockname(listener->fd, (struct sockaddr *)&address, &length) != 0)
		return 0;
	if (address.ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)&address)->sin_port);
	if (address.ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
	return 0;
}
