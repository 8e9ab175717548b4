/* fake_store.h - a store in the test: a real listening socket on the same loop, and what it
 * says is the test's. */
#pragma once

#include <arpa/inet.h>
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "policies/core/time.h"
#include "redis/link.h"
#include "redis/reader.h"

enum { PEERS_MAX = 4, OUTPUT_MAX = 4 * 1024 * 1024 };

struct fake_store;

struct fake_peer {
	struct fake_store *store;
	int fd; /* -1: gone */
	ev_io io;
	struct redis_reader *reader;
	unsigned commands;
};

/* True: the test has dealt with it. Otherwise the greeting is answered as a store does, and
 * all else with +OK. */
typedef bool fake_answer(void *data, struct fake_peer *peer, const char *name,
                         const struct redis_reply *command);

struct fake_store {
	struct ev_loop *loop;
	int fd; /* -1: nobody listens */
	uint16_t port;
	ev_io io;
	struct fake_peer peers[PEERS_MAX];
	unsigned accepted;
	bool mute;  /* says nothing at all */
	bool kills; /* closes whoever connects */
	fake_answer *answer;
	void *data;
	char heard[512]; /* names of commands, with blanks */
};

/* What a test cannot do without; assert() may be compiled away. */
static inline void must(bool done)
{
	if (!done)
		abort();
}

static inline usec_t test_now(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	return (usec_t)at.tv_sec * SECOND + (usec_t)at.tv_nsec / 1000;
}

static inline void fake_say_bytes(struct fake_peer *peer, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t sent = send(peer->fd, bytes, len, MSG_NOSIGNAL);

		if (sent <= 0)
			return; /* it has gone; the test looks at the other side */
		bytes += sent;
		len -= (size_t)sent;
	}
}

static inline void fake_say(struct fake_peer *peer, const char *text)
{
	fake_say_bytes(peer, text, strlen(text));
}

static inline void fake_hang_up(struct fake_peer *peer)
{
	if (peer->fd < 0)
		return;
	ev_io_stop(peer->store->loop, &peer->io);
	(void)close(peer->fd);
	peer->fd = -1;
	redis_reader_free(peer->reader);
	peer->reader = NULL;
}

/* With a RST instead of a FIN. */
static inline void fake_reset(struct fake_peer *peer)
{
	const struct linger now = { .l_onoff = 1 };

	(void)setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	fake_hang_up(peer);
}

static inline void fake_answer_command(struct fake_peer *peer, const struct redis_reply *command)
{
	struct fake_store *store = peer->store;
	struct span name = redis_reply_text(redis_reply_at(command, 0));
	size_t used = strlen(store->heard);

	must(name.len > 0);
	peer->commands++;
	(void)snprintf(store->heard + used, sizeof(store->heard) - used, "%s ", name.at);
	if (store->mute || (store->answer && store->answer(store->data, peer, name.at, command)))
		return;
	if (strcmp(name.at, "ROLE") == 0)
		fake_say(peer, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
	else
		fake_say(peer, strcmp(name.at, "PING") == 0 ? "+PONG\r\n" : "+OK\r\n");
}

static inline void fake_on_bytes(struct ev_loop *loop, ev_io *io, int events)
{
	struct fake_peer *peer = io->data;
	const struct redis_reply *command = NULL;
	char bytes[4096];
	ssize_t got = recv(peer->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	(void)loop;
	(void)events;
	if (got <= 0) {
		fake_hang_up(peer);
		return;
	}
	must(redis_reader_feed(peer->reader, bytes, (size_t)got));
	while (peer->fd >= 0 && redis_reader_next(peer->reader, &command) == REDIS_READ_REPLY)
		fake_answer_command(peer, command);
}

static inline void fake_on_connect(struct ev_loop *loop, ev_io *io, int events)
{
	struct fake_store *store = io->data;
	struct fake_peer *peer = store->peers;
	int fd = accept4(store->fd, NULL, NULL, SOCK_CLOEXEC);

	(void)events;
	if (fd < 0)
		return;
	store->accepted++;
	if (store->kills) {
		(void)close(fd);
		return;
	}
	while (peer < store->peers + PEERS_MAX && peer->fd >= 0)
		peer++;
	must(peer < store->peers + PEERS_MAX);
	*peer = (struct fake_peer){ .store = store, .fd = fd };
	peer->reader = redis_reader_new(1024 * 1024);
	ev_io_init(&peer->io, fake_on_bytes, fd, EV_READ);
	peer->io.data = peer;
	ev_io_start(loop, &peer->io);
}

/* On port 0: any that is free; else just that one. */
static inline void fake_listen(struct fake_store *store, uint16_t port)
{
	struct sockaddr_in name = { .sin_family = AF_INET,
		                    .sin_port = htons(port),
		                    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(name);
	const int on = 1;

	store->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(store->fd >= 0);
	(void)setsockopt(store->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	must(bind(store->fd, (const struct sockaddr *)&name, sizeof(name)) == 0);
	must(listen(store->fd, 16) == 0);
	must(getsockname(store->fd, (struct sockaddr *)&name, &size) == 0);
	store->port = ntohs(name.sin_port);
	ev_io_init(&store->io, fake_on_connect, store->fd, EV_READ);
	store->io.data = store;
	ev_io_start(store->loop, &store->io);
}

static inline void fake_open(struct fake_store *store, struct ev_loop *loop)
{
	memset(store, 0, sizeof(*store));
	store->loop = loop;
	for (int i = 0; i < PEERS_MAX; i++)
		store->peers[i].fd = -1;
	fake_listen(store, 0);
}

/* Nobody listens any more; who is connected stays. */
static inline void fake_deaf(struct fake_store *store)
{
	if (store->fd < 0)
		return;
	ev_io_stop(store->loop, &store->io);
	(void)close(store->fd);
	store->fd = -1;
}

static inline void fake_kick_all(struct fake_store *store)
{
	for (int i = 0; i < PEERS_MAX; i++)
		fake_hang_up(&store->peers[i]);
}

static inline void fake_close(struct fake_store *store)
{
	fake_deaf(store);
	fake_kick_all(store);
}
