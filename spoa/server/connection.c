/* connection.c - life and deadlines; input.c and output.c move the bytes.
 *
 * All deadlines are looked at by the server's sweep, a few times a second: a
 * timer for each connection would be touched with every frame. */
#include "spoa/server/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "spoa/server/input.h"
#include "spoa/server/output.h"
#include "spoa/server/state.h"

static struct connection *make(struct spop_server *server, int fd, uint32_t source)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (!connection)
		return NULL;
	connection->input = malloc(INPUT_FIRST);
	if (!connection->input) {
		free(connection);
		return NULL;
	}
	connection->input_size = INPUT_FIRST;
	connection->server = server;
	connection->source = source;
	connection->phase = PHASE_HELLO;
	connection->frame_limit = INPUT_FIRST - FRAME_LENGTH_BYTES;
	connection->active_at = server->context->now();
	input_init(connection, fd);
	output_init(connection, fd);
	return connection;
}

/* Answers are small and must not wait for more (this fails on unix sockets). What
 * the kernel holds for a peer that does not read is bounded like what we hold. */
static void tune(int fd, int output_limit)
{
	int yes = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &output_limit, sizeof(output_limit));
}

void connection_new(struct spop_server *server, int fd, uint32_t source)
{
	bool full = server->counters.open >= server->options.max_connections;
	struct connection *connection = NULL;

	if (!full)
		connection = make(server, fd, source);
	if (!connection) {
		server->counters.refused++;
		notices_say(&server->notices, NOTICE_OF_TOO_MANY, server->context->now(),
		            "spop: connection refused: %s",
		            full ? "too many are open" : "out of memory");
		(void)close(fd);
		return;
	}
	tune(fd, (int)server->options.output_limit);
	connection->link = &server->connections;
	connection->next = server->connections;
	if (connection->next)
		connection->next->link = &connection->next;
	server->connections = connection;
	server->counters.open++;
	input_resume(connection);
}

void connection_close(struct connection *connection)
{
	struct spop_server *server = connection->server;

	if (connection->phase == PHASE_HELLO)
		server->counters.refused++;
	output_abandon(connection);
	input_stop(connection);
	(void)close(connection->reading.fd);
	input_done(connection);
	*connection->link = connection->next;
	if (connection->next)
		connection->next->link = connection->link;
	server->counters.open--;
	free(connection);
}

void connection_drain(struct connection *connection)
{
	if (connection->phase == PHASE_HELLO) {
		connection_close(connection);
		return;
	}
	if (connection->phase == PHASE_CLOSING || !input_turn(connection))
		return;
	if (connection->phase != PHASE_CLOSING)
		output_goodbye(connection, SPOP_NONE);
}

static void give_up(struct connection *connection, const char *what)
{
	struct spop_server *server = connection->server;

	notices_say(&server->notices, NOTICE_OF_TOO_SLOW, server->context->now(), "spop: %s", what);
}

static bool over(usec_t since, usec_t limit, usec_t now)
{
	return since != 0 && now >= since + limit;
}

void connection_check(struct connection *connection, usec_t now)
{
	struct spop_server *server = connection->server;
	const struct spop_server_options *options = &server->options;

	if (over(connection->closing_at, options->linger_timeout, now)) {
		connection_close(connection);
	} else if (over(connection->stuck_at, options->write_timeout, now)) {
		give_up(connection, "a peer does not read its answers");
		connection_close(connection);
	} else if (connection->phase == PHASE_HELLO) {
		if (!over(connection->active_at, options->handshake_timeout, now))
			return;
		server->counters.refused++;
		give_up(connection, "no HELLO in time");
		output_goodbye(connection, SPOP_TIMEOUT);
	} else if (connection->phase == PHASE_OPEN && connection->stuck_at == 0) {
		if (over(connection->frame_at, options->frame_timeout, now)) {
			give_up(connection, "a frame did not end in time");
			output_goodbye(connection, SPOP_TIMEOUT);
		} else if (over(connection->active_at, options->idle_timeout, now)) {
			server->counters.idle_closed++;
			output_goodbye(connection, SPOP_NONE);
		}
	}
}
