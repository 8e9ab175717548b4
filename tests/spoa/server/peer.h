/* peer.h - HAProxy's side: peers on loopback sockets, and a server on a loop of
 * this very process. Time is the fixture's number; only the sockets are real.
 *
 * Include it in one file of a program. */
#pragma once

#include "tests/spoa/messages/fixture.h"
#include "tests/spoa/spop/golden.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "spoa/server/connection.h"
#include "spoa/server/server.h"
#include "spoa/server/state.h"
#include "spoa/spop/disconnect.h"
#include "spoa/spop/hello.h"

enum { PEER_SIZE = 16380, PATIENCE_MS = 5000, PEER_INPUT = 1 << 17 };

static struct {
	struct ev_loop *loop;
	struct message_context context;
	struct spop_server *server;
	const struct spop_server_counters *counters;
	unsigned int lines, alarming; /* lines said, and those above a warning */
	char line[400];
} world;

struct peer {
	int fd;
	uint8_t *in;
	size_t at, length;
	bool ended; /* the server has ended its side */
	bool reset;
};

static void on_line(void *data, int level, const char *text)
{
	(void)data;
	world.lines++;
	world.alarming += level < NOTICE_WARNING;
	(void)snprintf(world.line, sizeof(world.line), "%s", text);
}

/* Defaults, but a sweep every 5 ms. */
__attribute__((unused)) static struct spop_server_options usual(void)
{
	struct spop_server_options options = spop_server_options_default();

	options.linger_timeout = 20 * MSEC;
	options.log.write = on_line;
	return options;
}

__attribute__((unused)) static void start_with(const struct spop_server_options *options)
{
	struct error error = { "" };

	memset(&world, 0, sizeof(world));
	world.context = stub_context();
	world.loop = ev_loop_new(EVFLAG_AUTO);
	world.server = spop_server_new(world.loop, options, &world.context);
	assert_non_null(world.server);
	world.counters = spop_server_counters(world.server);
	if (!spop_server_listen(world.server, "127.0.0.1:0", NULL, &error))
		fail_msg("%s", error.text);
}

__attribute__((unused)) static void start(void)
{
	struct spop_server_options options = usual();

	start_with(&options);
}

__attribute__((unused)) static void stop(void)
{
	spop_server_free(world.server);
	ev_loop_destroy(world.loop);
	assert_int_equal(world.alarming, 0);
}

static void pump(void)
{
	ev_run(world.loop, EVRUN_NOWAIT);
}

static uint64_t real_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Runs the loop until the condition holds; the patience is only for a broken one. */
#define UNTIL(condition)                                                                           \
	for (uint64_t until_ms = real_ms() + PATIENCE_MS; !(condition);) {                         \
		if (real_ms() > until_ms)                                                          \
			fail_msg("never: %s", #condition);                                         \
		pump();                                                                            \
	}

static struct peer peer_of(int fd)
{
	struct peer peer = { .fd = fd, .in = malloc(PEER_INPUT) };

	assert_true(fd >= 0);
	assert_non_null(peer.in);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return peer;
}

__attribute__((unused)) static struct peer peer_connect(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons(spop_server_port(world.server, 0)),
		                  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return peer_of(fd);
}

/* Without the moods of TCP: what is not read fills a buffer of known size. */
__attribute__((unused)) static struct peer peer_pair(void)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair),
	                 0);
	connection_new(world.server, pair[0], 0);
	return peer_of(pair[1]);
}

__attribute__((unused)) static void peer_close(struct peer *peer)
{
	if (peer->fd >= 0)
		(void)close(peer->fd);
	free(peer->in);
	*peer = (struct peer){ .fd = -1 };
}

static void peer_send(struct peer *peer, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;

	while (length > 0) {
		ssize_t sent = sendto(peer->fd, at, length, MSG_NOSIGNAL, NULL, 0);

		if (sent < 0 && errno != EAGAIN)
			fail_msg("peer: %s", strerror(errno));
		if (sent > 0) {
			at += sent;
			length -= (size_t)sent;
		}
		pump();
	}
}

__attribute__((unused)) static void peer_send_hex(struct peer *peer, const char *hex)
{
	uint8_t bytes[512];

	peer_send(peer, bytes, hex_read(hex, bytes, sizeof(bytes)));
}

static void peer_read(struct peer *peer)
{
	ssize_t got;

	if (peer->at > 0) {
		memmove(peer->in, peer->in + peer->at, peer->length - peer->at);
		peer->length -= peer->at;
		peer->at = 0;
	}
	got = read(peer->fd, peer->in + peer->length, PEER_INPUT - peer->length);
	if (got > 0)
		peer->length += (size_t)got;
	else if (got == 0)
		peer->ended = true;
	else if (errno != EAGAIN)
		peer->ended = peer->reset = true;
}

/* The next frame of the server, if any comes before its end. */
static bool peer_frame(struct peer *peer, struct frame *ret_frame)
{
	for (uint64_t until_ms = real_ms() + PATIENCE_MS;;) {
		struct spop_input stream = { peer->in + peer->at, peer->in + peer->length };
		enum spop_error error;

		if (frame_next(&stream, FRAME_SIZE_MAX, ret_frame, &error)) {
			peer->at = (size_t)(stream.at - peer->in);
			return true;
		}
		assert_int_equal(error, SPOP_NONE);
		if (peer->ended)
			return false;
		if (real_ms() > until_ms)
			fail_msg("no frame, and no end");
		pump();
		peer_read(peer);
	}
}

/* The server has nothing more to say. */
__attribute__((unused)) static void expect_end(struct peer *peer)
{
	struct frame frame;

	assert_false(peer_frame(peer, &frame));
	assert_int_equal(peer->at, peer->length);
	assert_false(peer->reset);
}

__attribute__((unused)) static void expect_goodbye(struct peer *peer, enum spop_error status)
{
	struct disconnect disconnect;
	struct frame frame;

	assert_true(peer_frame(peer, &frame));
	assert_int_equal(frame.type, FRAME_AGENT_DISCONNECT);
	assert_int_equal(frame.flags, FRAME_FIN);
	assert_int_equal(disconnect_read(frame.payload, &disconnect), SPOP_NONE);
	assert_int_equal(disconnect.status, status);
	expect_end(peer);
}

__attribute__((unused)) static struct hello_answer say_hello(struct peer *peer, uint32_t size,
                                                             const char *capabilities)
{
	uint8_t bytes[256];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };
	struct hello_answer answer = { .max_frame_size = 0 };
	struct frame frame;

	assert_true(hello_write(&out, size, capabilities, false, "e1"));
	peer_send(peer, bytes, (size_t)(out.at - bytes));
	assert_true(peer_frame(peer, &frame));
	assert_int_equal(frame.type, FRAME_AGENT_HELLO);
	assert_int_equal(frame.stream, 0);
	assert_int_equal(frame.id, 0);
	assert_int_equal(hello_read_answer(frame.payload, &answer), SPOP_NONE);
	return answer;
}

/* A peer that has shaken hands. */
__attribute__((unused)) static struct peer peer_new(void)
{
	struct peer peer = peer_connect();

	(void)say_hello(&peer, PEER_SIZE, "pipelining");
	return peer;
}

/* A whole frame around a NOTIFY's payload. */
__attribute__((unused)) static size_t wrap(uint8_t *room, size_t size, struct spop_input payload,
                                           uint64_t stream, uint64_t id)
{
	struct spop_output out = { room, room + size };
	uint8_t *mark;

	assert_true(frame_begin(&out, FRAME_HAPROXY_NOTIFY, stream, id, &mark));
	assert_true(payload.end - payload.at <= out.end - out.at);
	memcpy(out.at, payload.at, (size_t)(payload.end - payload.at));
	out.at += payload.end - payload.at;
	frame_end(&out, mark);
	return (size_t)(out.at - room);
}

__attribute__((unused)) static void send_notify(struct peer *peer, const struct stub_notify *notify,
                                                uint64_t stream, uint64_t id)
{
	uint8_t bytes[sizeof(notify->bytes) + 64];

	peer_send(peer, bytes, wrap(bytes, sizeof(bytes), notify_end(notify), stream, id));
}

__attribute__((unused)) static void ask(struct peer *peer, const char *unique_id, uint64_t stream,
                                        uint64_t id)
{
	static struct stub_notify notify;

	notify_start(&notify);
	put_route(&notify, unique_id, 4);
	send_notify(peer, &notify, stream, id);
}

__attribute__((unused)) static void expect_ack(struct peer *peer, uint64_t stream, uint64_t id)
{
	struct ack_action action;
	struct frame frame;

	assert_true(peer_frame(peer, &frame));
	assert_int_equal(frame.type, FRAME_AGENT_ACK);
	assert_int_equal(frame.flags, FRAME_FIN);
	assert_int_equal(frame.stream, stream);
	assert_int_equal(frame.id, id);
	assert_int_equal(ack_read(&frame.payload, &action), SPOP_NONE); /* P002 */
}
