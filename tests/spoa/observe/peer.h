/* peer.h - a peer that answers each connection with a text, in the test's own loop.
 *
 * It reads until the request has come (a newline ends it, or an empty line for
 * HTTP), then writes its answer as its manners say. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/spoa/observe/loop.h"

enum manners {
	PEER_ANSWERS, /* and closes */
	PEER_STALLS,  /* says nothing, keeps the connection */
	PEER_CLOSES,  /* without a word */
	PEER_FLOODS,  /* writes for as long as somebody reads */
	PEER_CUTS,    /* half of its answer, then closes */
	PEER_KEEPS,   /* answers and keeps the connection for the next */
};

enum { PEER_CONNECTIONS = 64 };

struct peer_connection {
	struct peer *peer;
	ev_io io;
	char request[4096];
	size_t read, written;
};

struct peer {
	struct ev_loop *loop;
	ev_io io;
	uint16_t port; /* 0: unix */
	char path[108];
	enum manners manners;
	bool http;
	const char *answer;
	size_t answer_bytes;
	unsigned connections; /* ever */
	unsigned open;
	unsigned most_open;
	unsigned requests;
	char last[4096]; /* request */
	struct peer_connection slots[PEER_CONNECTIONS];
};

static inline void peer_close(struct peer_connection *connection)
{
	if (connection->io.fd < 0)
		return;
	ev_io_stop(connection->peer->loop, &connection->io);
	(void)close(connection->io.fd);
	connection->io.fd = -1;
	connection->peer->open--;
}

static inline void peer_write(struct peer_connection *connection)
{
	static char flood[65536];
	struct peer *peer = connection->peer;
	const char *from = peer->answer + connection->written;
	size_t end = peer->manners == PEER_CUTS ? peer->answer_bytes / 2 : peer->answer_bytes;
	ssize_t sent;

	if (peer->manners == PEER_FLOODS) {
		memset(flood, 'x', sizeof(flood));
		sent = send(connection->io.fd, flood, sizeof(flood), MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN)
			peer_close(connection);
		return;
	}
	sent = send(connection->io.fd, from, end - connection->written, MSG_NOSIGNAL);
	if (sent < 0 && errno == EAGAIN)
		return;
	connection->written += sent > 0 ? (size_t)sent : 0;
	if (sent >= 0 && connection->written < end)
		return;
	if (peer->manners != PEER_KEEPS) {
		peer_close(connection);
		return;
	}
	connection->read = connection->written = 0;
	ev_io_stop(peer->loop, &connection->io);
	ev_io_set(&connection->io, connection->io.fd, EV_READ);
	ev_io_start(peer->loop, &connection->io);
}

static inline void peer_asked(struct peer_connection *connection)
{
	struct peer *peer = connection->peer;

	peer->requests++;
	(void)snprintf(peer->last, sizeof(peer->last), "%s", connection->request);
	if (peer->manners == PEER_CLOSES) {
		peer_close(connection);
		return;
	}
	ev_io_stop(peer->loop, &connection->io);
	ev_io_set(&connection->io, connection->io.fd,
	          peer->manners == PEER_STALLS ? EV_READ : EV_WRITE);
	ev_io_start(peer->loop, &connection->io);
}

static inline void peer_on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct peer_connection *connection = io->data;
	ssize_t got;

	(void)loop;
	if (events & EV_WRITE) {
		peer_write(connection);
		return;
	}
	got = read(io->fd, connection->request + connection->read,
	           sizeof(connection->request) - 1 - connection->read);
	if (got <= 0) {
		peer_close(connection);
		return;
	}
	connection->read += (size_t)got;
	connection->request[connection->read] = 0;
	if (strstr(connection->request, connection->peer->http ? "\r\n\r\n" : "\n"))
		peer_asked(connection);
}

static inline void peer_on_connection(struct ev_loop *loop, ev_io *io, int events)
{
	struct peer *peer = io->data;
	int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd < 0)
		return;
	for (size_t i = 0; i < PEER_CONNECTIONS; i++) {
		struct peer_connection *connection = &peer->slots[i];

		if (connection->io.fd >= 0)
			continue;
		connection->read = connection->written = 0;
		ev_io_init(&connection->io, peer_on_ready, fd, EV_READ);
		connection->io.data = connection;
		ev_io_start(loop, &connection->io);
		peer->connections++;
		peer->open++;
		peer->most_open = peer->open > peer->most_open ? peer->open : peer->most_open;
		return;
	}
	(void)close(fd);
}

static inline void peer_say(struct peer *peer, const char *answer)
{
	peer->answer = answer;
	peer->answer_bytes = strlen(answer);
}

static inline void peer_start_on(struct peer *peer, int fd)
{
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	ev_io_init(&peer->io, peer_on_connection, fd, EV_READ);
	peer->io.data = peer;
	ev_io_start(peer->loop, &peer->io);
	for (size_t i = 0; i < PEER_CONNECTIONS; i++) {
		peer->slots[i].peer = peer;
		peer->slots[i].io.fd = -1;
	}
}

/* On a TCP port: peer->port, or a free one. */
static inline void peer_start(struct peer *peer)
{
	peer_start_on(peer, loop_listen(&peer->port));
}

/* On peer->path. */
static inline void peer_start_unix(struct peer *peer)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, peer->path, sizeof(address.sun_path));
	(void)unlink(peer->path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, 64) != 0) {
		perror(peer->path);
		abort();
	}
	peer_start_on(peer, fd);
}

/* Nobody listens there any more. */
static inline void peer_stop(struct peer *peer)
{
	if (peer->io.fd < 0)
		return;
	for (size_t i = 0; i < PEER_CONNECTIONS; i++)
		peer_close(&peer->slots[i]);
	ev_io_stop(peer->loop, &peer->io);
	(void)close(peer->io.fd);
	peer->io.fd = -1;
	if (peer->path[0])
		(void)unlink(peer->path);
}

/* A path of this process, for a unix socket. */
static inline void peer_path(char *ret_path, size_t room, const char *name)
{
	const char *folder = getenv("TMPDIR");

	(void)snprintf(ret_path, room, "%s/infer-%d-%s", folder ? folder : "/tmp", (int)getpid(),
	               name);
}
