/* log_receiver.c - sockets that take log lines; what a line says is not looked at.
 *
 * Datagrams are read in batches, streams in large pieces, and both only so much a
 * turn of the loop: decisions come before lines. What waits meanwhile waits in the
 * kernel, for which the receive buffer is asked to be large. When lines come often they
 * are read by the clock (pace.h). */
#include "spoa/observe/log_receiver.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "spoa/observe/acceptor.h"
#include "spoa/observe/address.h"
#include "spoa/observe/datagrams.h"
#include "spoa/observe/lines.h"
#include "spoa/observe/log_socket.h"
#include "spoa/observe/pace.h"

enum {
	LISTENERS_MAX = 8,
	CONNECTIONS_MAX = 64,
	READ_BYTES = 64 * 1024,
};

struct listener {
	struct log_receiver *receiver;
	ev_io io;                 /* of datagrams; fd -1: it takes none */
	struct acceptor acceptor; /* of connections; fd -1: it takes none */
	uint32_t drops;           /* the kernel's count, as last seen */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* to remove at the end; "" */
};

struct connection {
	struct log_receiver *receiver;
	ev_io io; /* fd -1 when free */
	struct lines lines;
};

struct log_receiver {
	struct observe observe;
	void (*on_line)(void *data, struct span line);
	void *data;
	struct log_receiver_counts counts;
	struct pace pace;
	struct listener listeners[LISTENERS_MAX];
	struct connection connections[CONNECTIONS_MAX];
	struct datagrams *datagrams;
	char stream[READ_BYTES];
};

static void take_datagram(void *data, struct span line)
{
	struct log_receiver *receiver = data;

	receiver->counts.datagrams++;
	receiver->on_line(receiver->data, line);
}

/* False: there was nothing. */
static bool read_datagrams(struct listener *listener)
{
	struct log_receiver *receiver = listener->receiver;
	struct datagrams_read read =
	        datagrams_read(receiver->datagrams, listener->io.fd, take_datagram, receiver);

	receiver->counts.too_long += read.too_long;
	if (read.drops_known) {
		receiver->counts.kernel_drops += read.drops - listener->drops;
		listener->drops = read.drops;
	}
	return read.any;
}

static void on_datagrams(struct ev_loop *loop, ev_io *io, int events)
{
	struct listener *listener = io->data;

	(void)loop;
	(void)events;
	pace_woken(&listener->receiver->pace);
	(void)read_datagrams(listener);
}

static void count_stream_line(void *data, struct span line)
{
	struct log_receiver *receiver = data;

	receiver->counts.stream_lines++;
	receiver->on_line(receiver->data, line);
}

static void disconnect(struct connection *connection)
{
	struct log_receiver *receiver = connection->receiver;

	if (lines_cut(&connection->lines))
		receiver->counts.cut++;
	ev_io_stop(receiver->observe.loop, &connection->io);
	(void)close(connection->io.fd);
	connection->io.fd = -1;
	receiver->counts.connections--;
}

/* False: there was nothing. */
static bool read_bytes(struct connection *connection)
{
	struct log_receiver *receiver = connection->receiver;
	ssize_t got = recv(connection->io.fd, receiver->stream, READ_BYTES, 0);
	uint64_t too_long = connection->lines.too_long;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		disconnect(connection);
		return false;
	}
	lines_feed(&connection->lines, (struct span){ receiver->stream, (size_t)got },
	           count_stream_line, receiver);
	receiver->counts.too_long += connection->lines.too_long - too_long;
	return true;
}

static void on_bytes(struct ev_loop *loop, ev_io *io, int events)
{
	struct connection *connection = io->data;

	(void)loop;
	(void)events;
	pace_woken(&connection->receiver->pace);
	(void)read_bytes(connection);
}

static void connect_to(void *data, int fd)
{
	struct log_receiver *receiver = data;
	int on = 1;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &receiver->connections[i];

		if (connection->io.fd >= 0)
			continue;
		/* A host that vanished must not keep its place for ever. */
		(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		lines_init(&connection->lines);
		ev_io_init(&connection->io, on_bytes, fd, EV_READ);
		connection->io.data = connection;
		if (!pace_keeps(&receiver->pace))
			ev_io_start(receiver->observe.loop, &connection->io);
		receiver->counts.connections++;
		receiver->counts.connections_total++;
		return;
	}
	receiver->counts.connections_refused++;
	(void)close(fd);
}

static bool read_all(void *data)
{
	struct log_receiver *receiver = data;
	bool any = false;

	for (size_t i = 0; i < LISTENERS_MAX; i++)
		if (receiver->listeners[i].io.fd >= 0)
			any = read_datagrams(&receiver->listeners[i]) || any;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (receiver->connections[i].io.fd >= 0)
			any = read_bytes(&receiver->connections[i]) || any;
	return any;
}

static void watch(struct ev_loop *loop, ev_io *io, bool on)
{
	if (on)
		ev_io_start(loop, io);
	else
		ev_io_stop(loop, io);
}

static void watch_all(void *data, bool on)
{
	struct log_receiver *receiver = data;

	for (size_t i = 0; i < LISTENERS_MAX; i++)
		if (receiver->listeners[i].io.fd >= 0)
			watch(receiver->observe.loop, &receiver->listeners[i].io, on);
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (receiver->connections[i].io.fd >= 0)
			watch(receiver->observe.loop, &receiver->connections[i].io, on);
}

static struct listener *free_listener(struct log_receiver *receiver)
{
	for (size_t i = 0; i < LISTENERS_MAX; i++)
		if (receiver->listeners[i].io.fd < 0 && receiver->listeners[i].acceptor.io.fd < 0)
			return &receiver->listeners[i];
	return NULL;
}

static void stop_listening(struct listener *listener)
{
	acceptor_stop(&listener->acceptor);
	if (listener->io.fd < 0)
		return;
	ev_io_stop(listener->receiver->observe.loop, &listener->io);
	(void)close(listener->io.fd);
	listener->io.fd = -1;
	if (listener->path[0])
		(void)unlink(listener->path);
	listener->path[0] = 0;
}

/* address: where to; NULL, the text itself names an open socket. */
static bool start_listening(struct log_receiver *receiver, int type,
                            const struct socket_address *address, const char *text,
                            struct error *error)
{
	struct listener *listener = free_listener(receiver);
	int fd = -1;

	if (!listener)
		return error_set(error, "%s: more than %d log sockets", text, LISTENERS_MAX);
	if (address ? !log_socket_open(type, address, text, &fd, error)
	            : !log_socket_adopt(text, &fd, &type, error))
		return false;
	if (type == SOCK_DGRAM && log_socket_room(fd) < LOG_SOCKET_ROOM)
		observe_say(&receiver->observe, OBSERVE_WARNING,
		            "%s: the kernel gives a receive buffer of %d bytes, %d were asked for; "
		            "bursts of log lines may be lost (net.core.rmem_max)",
		            text, log_socket_room(fd), LOG_SOCKET_ROOM);
	if (type == SOCK_STREAM) {
		acceptor_start(&listener->acceptor, receiver->observe.loop, fd, connect_to,
		               receiver);
		return true;
	}
	listener->drops = 0;
	ev_io_init(&listener->io, on_datagrams, fd, EV_READ);
	listener->io.data = listener;
	if (!pace_keeps(&receiver->pace))
		ev_io_start(receiver->observe.loop, &listener->io);
	return true;
}

static bool listen_on_path(struct log_receiver *receiver, const char *path, struct error *error)
{
	struct listener *listener = free_listener(receiver);
	struct socket_address address;

	if (!address_unix(path, &address, error))
		return false;
	if (!start_listening(receiver, SOCK_DGRAM, &address, path, error))
		return false;
	memcpy(listener->path, path, strlen(path) + 1); /* address_unix() has seen that it fits */
	return true;
}

static bool listen_on_port(struct log_receiver *receiver, const char *text, bool udp, bool tcp,
                           struct error *error)
{
	struct listener *first = free_listener(receiver);
	struct socket_address address;

	if (!address_ip(text, &address, error))
		return false;
	if (!start_listening(receiver, udp ? SOCK_DGRAM : SOCK_STREAM, &address, text, error))
		return false;
	if (!udp || !tcp)
		return true;
	/* Port 0 was any; now both have the one it became. */
	if (log_socket_address(first->io.fd, &address) &&
	    start_listening(receiver, SOCK_STREAM, &address, text, error))
		return true;
	stop_listening(first);
	return false;
}

bool log_receiver_listen(struct log_receiver *receiver, const char *address, struct error *error)
{
	if (strncmp(address, "fd@", 3) == 0)
		return start_listening(receiver, 0, NULL, address, error);
	if (strncmp(address, "unix-dgram:", 11) == 0)
		return listen_on_path(receiver, address + 11, error);
	if (strncmp(address, "udp:", 4) == 0)
		return listen_on_port(receiver, address + 4, true, false, error);
	if (strncmp(address, "tcp:", 4) == 0)
		return listen_on_port(receiver, address + 4, false, true, error);
	return listen_on_port(receiver, address, true, true, error);
}

struct log_receiver *log_receiver_new(const struct observe *observe,
                                      void (*on_line)(void *data, struct span line), void *data)
{
	struct log_receiver *receiver = calloc(1, sizeof(*receiver));

	if (!receiver)
		return NULL;
	receiver->datagrams = datagrams_new();
	if (!receiver->datagrams) {
		free(receiver);
		return NULL;
	}
	receiver->observe = *observe;
	receiver->on_line = on_line;
	receiver->data = data;
	pace_init(&receiver->pace, observe->loop,
	          &(struct pace_of){ read_all, watch_all, receiver });
	for (size_t i = 0; i < LISTENERS_MAX; i++) {
		receiver->listeners[i].receiver = receiver;
		receiver->listeners[i].io.fd = receiver->listeners[i].acceptor.io.fd = -1;
	}
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		receiver->connections[i].receiver = receiver;
		receiver->connections[i].io.fd = -1;
	}
	return receiver;
}

void log_receiver_free(struct log_receiver *receiver)
{
	if (!receiver)
		return;
	pace_stop(&receiver->pace);
	for (size_t i = 0; i < LISTENERS_MAX; i++)
		stop_listening(&receiver->listeners[i]);
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (receiver->connections[i].io.fd >= 0)
			disconnect(&receiver->connections[i]);
	datagrams_free(receiver->datagrams);
	free(receiver);
}

struct log_receiver_counts log_receiver_counts(const struct log_receiver *receiver)
{
	return receiver->counts;
}

uint16_t log_receiver_port(const struct log_receiver *receiver)
{
	for (size_t i = 0; i < LISTENERS_MAX; i++) {
		const struct listener *listener = &receiver->listeners[i];
		int fd = listener->io.fd >= 0 ? listener->io.fd : listener->acceptor.io.fd;
		uint16_t port = fd >= 0 ? log_socket_port(fd) : 0;

		if (port)
			return port;
	}
	return 0;
}
