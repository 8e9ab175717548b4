/* output.c - one write for all answers of a turn.
 *
 * HAProxy from 3.2 on resets a connection whose HELLO comes in pieces. A new
 * socket always takes so few bytes whole; should it not, the connection is given
 * up rather than continued in a second write.
 *
 * What the kernel does not take is kept, up to the limit plus one turn's answers,
 * and the ids of the decisions in it, to see whether they leave in time. */
#include "spoa/server/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "spoa/server/connection.h"
#include "spoa/server/dispatch.h"
#include "spoa/server/input.h"
#include "spoa/server/state.h"

static uint32_t waiting(const struct connection *connection)
{
	return connection->output_length - connection->output_at;
}

bool output_is_blocked(const struct connection *connection)
{
	return waiting(connection) >= connection->server->options.output_limit;
}

/* Undoes one decision that came too late, or never. */
static void undo(struct connection *connection, struct span id, uint64_t *counter)
{
	struct spop_server *server = connection->server;

	++*counter;
	messages_late(server->context, id);
}

static void told(struct connection *connection, struct span id, usec_t read_at, usec_t now)
{
	struct spop_server *server = connection->server;

	if (now <= read_at + server->options.processing_timeout)
		return;
	undo(connection, id, &server->counters.late);
	notices_say(&server->notices, NOTICE_OF_LATE_ANSWER, now,
	            "spop: an answer left %u ms after its question, HAProxy had gone on",
	            (unsigned int)((now - read_at) / MSEC));
}

/* Of this turn's decisions, those before `sent` are told, the others wait.
 * start: where the turn's answers begin in all that this connection is sent. */
static void settle(struct connection *connection, uint32_t sent, uint64_t start)
{
	struct spop_server *server = connection->server;
	usec_t now = server->batch_count ? server->context->now() : 0;

	for (uint32_t i = 0; i < server->batch_count; i++) {
		const struct answered *answered = &server->batch[i];

		if (answered->end <= sent)
			told(connection, answered->id, connection->read_at, now);
		else if (!late_keep(&server->late, &connection->late, answered->id,
		                    start + answered->end, connection->read_at))
			server->counters.late_untracked++;
	}
	server->batch_count = 0;
}

static struct span id_of(const struct late_answer *answer)
{
	return (struct span){ answer->id, answer->id_length };
}

void output_abandon(struct connection *connection)
{
	struct spop_server *server = connection->server;
	const struct late_answer *answer;

	for (uint32_t i = 0; i < server->batch_count; i++)
		undo(connection, server->batch[i].id, &server->counters.lost);
	server->batch_count = 0;
	while ((answer = late_take(&server->late, &connection->late, UINT64_MAX)))
		undo(connection, id_of(answer), &server->counters.lost);
	ev_io_stop(server->loop, &connection->writing);
	server->buffered -= connection->output_size;
	free(connection->output);
}

static bool make_room(struct connection *connection, uint32_t length)
{
	struct spop_server *server = connection->server;
	uint32_t kept = waiting(connection), size = connection->output_size;
	uint8_t *output;

	if (connection->output_at > 0)
		memmove(connection->output, connection->output + connection->output_at, kept);
	connection->output_at = 0;
	connection->output_length = kept;
	if (size == 0)
		size = INPUT_FIRST;
	while (size < kept + length)
		size *= 2;
	if (size == connection->output_size)
		return true;
	if (server->buffered + size - connection->output_size > server->options.buffer_limit)
		return false;
	output = realloc(connection->output, size);
	if (!output)
		return false;
	server->buffered += size - connection->output_size;
	connection->output = output;
	connection->output_size = size;
	return true;
}

static bool keep(struct connection *connection, const uint8_t *bytes, uint32_t length)
{
	struct spop_server *server = connection->server;

	if (!make_room(connection, length))
		return false;
	memcpy(connection->output + connection->output_length, bytes, length);
	connection->output_length += length;
	if (connection->stuck_at == 0)
		connection->stuck_at = server->context->now();
	ev_io_start(server->loop, &connection->writing);
	return true;
}

/* Bytes the kernel took; -1 if the connection is broken. */
static ssize_t give(struct connection *connection, const uint8_t *bytes, uint32_t length)
{
	struct spop_server *server = connection->server;
	ssize_t sent = send(connection->writing.fd, bytes, length, MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
	connection->written += (uint64_t)sent;
	server->counters.bytes_out += (uint64_t)sent;
	return sent;
}

/* All is out: after a goodbye our side ends, and the peer's end is awaited. */
static void finish(struct connection *connection)
{
	if (connection->phase != PHASE_CLOSING || connection->shut)
		return;
	connection->shut = true;
	connection->closing_at = connection->server->context->now();
	(void)shutdown(connection->writing.fd, SHUT_WR);
	input_resume(connection);
}

bool output_flush(struct connection *connection, uint32_t length)
{
	struct spop_server *server = connection->server;
	uint64_t start = connection->written + waiting(connection);
	bool first = connection->written == 0;
	ssize_t sent = 0;

	if (length == 0)
		return true;
	if (waiting(connection) == 0)
		sent = give(connection, server->answers, length);
	if (sent < 0 || (first && (uint32_t)sent < length) ||
	    ((uint32_t)sent < length &&
	     !keep(connection, server->answers + sent, length - (uint32_t)sent))) {
		server->counters.resets++;
		connection_close(connection);
		return false;
	}
	settle(connection, (uint32_t)sent, start);
	if (waiting(connection) == 0)
		finish(connection);
	return true;
}

bool output_goodbye(struct connection *connection, enum spop_error error)
{
	struct spop_server *server = connection->server;
	struct spop_output out = { server->answers, server->answers + sizeof(server->answers) };

	dispatch_goodbye(connection, error, &out);
	return output_flush(connection, (uint32_t)(out.at - server->answers));
}

static void release(struct connection *connection)
{
	struct spop_server *server = connection->server;

	ev_io_stop(server->loop, &connection->writing);
	server->buffered -= connection->output_size;
	free(connection->output);
	connection->output = NULL;
	connection->output_size = connection->output_at = connection->output_length = 0;
	connection->stuck_at = 0;
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct connection *connection = watcher->data;
	struct spop_server *server = connection->server;
	ssize_t sent =
	        give(connection, connection->output + connection->output_at, waiting(connection));
	const struct late_answer *answer;
	usec_t now = server->context->now();

	(void)loop;
	(void)events;
	if (sent < 0) {
		server->counters.resets++;
		connection_close(connection);
		return;
	}
	connection->output_at += (uint32_t)sent;
	if (sent > 0)
		connection->stuck_at = connection->active_at = now;
	while ((answer = late_take(&server->late, &connection->late, connection->written)))
		told(connection, id_of(answer), answer->read_at, now);
	if (waiting(connection) == 0) {
		release(connection);
		finish(connection);
	}
	if (connection->phase != PHASE_CLOSING &&
	    waiting(connection) <= server->options.output_limit / 2) {
		input_resume(connection);
		if (!input_process(connection))
			return;
	}
}

void output_init(struct connection *connection, int fd)
{
	ev_io_init(&connection->writing, on_writable, fd, EV_WRITE);
	connection->writing.data = connection;
}
