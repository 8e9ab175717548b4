/* input.c - one read a turn, all its frames, one write.
 *
 * The buffer begins with the first byte of a frame. It grows only for a frame
 * that is longer, doubling as its bytes really come, so that a length alone makes
 * us hold nothing; and it shrinks again when that frame is done. */
#include "spoa/server/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "spoa/server/connection.h"
#include "spoa/server/dispatch.h"
#include "spoa/server/output.h"
#include "spoa/server/state.h"

/* What counts against the limit of all buffers. */
static uint64_t beyond_usual(uint32_t size)
{
	return size > INPUT_USUAL ? size : 0;
}

static bool resize(struct connection *connection, uint32_t size)
{
	struct spop_server *server = connection->server;
	uint64_t buffered =
	        server->buffered - beyond_usual(connection->input_size) + beyond_usual(size);
	uint8_t *input;

	if (size > connection->input_size && buffered > server->options.buffer_limit)
		return false;
	input = realloc(connection->input, size);
	if (!input)
		return false;
	connection->input = input;
	connection->input_size = size;
	server->buffered = buffered;
	return true;
}

/* The buffer is full with a part of a frame that is longer. */
static bool grow(struct connection *connection)
{
	struct spop_input stream = { connection->input,
		                     connection->input + connection->input_length };
	uint32_t wanted = frame_length(stream) + FRAME_LENGTH_BYTES;

	if (connection->input_size < INPUT_USUAL)
		wanted = INPUT_USUAL;
	else if (wanted > 2 * connection->input_size)
		wanted = 2 * connection->input_size;
	return resize(connection, wanted);
}

/* What has not been taken moves to the front. */
static void keep_rest(struct connection *connection, const uint8_t *at)
{
	uint32_t taken = (uint32_t)(at - connection->input);

	if (connection->phase == PHASE_CLOSING)
		taken = connection->input_length;
	connection->input_length -= taken;
	if (taken > 0 && connection->input_length > 0)
		memmove(connection->input, at, connection->input_length);
	if (connection->input_length == 0)
		connection->frame_at = 0;
	else if (taken > 0 || connection->frame_at == 0)
		connection->frame_at = connection->read_at;
	/* Never fails: it is smaller. */
	if (connection->input_size > INPUT_USUAL && connection->input_length <= INPUT_USUAL / 2 &&
	    taken > 0)
		(void)resize(connection, INPUT_USUAL);
}

/* Frames, until there is no whole one or no room for another answer. True in the
 * latter case. */
static bool take_batch(struct connection *connection, struct spop_input *stream,
                       struct spop_output *out)
{
	struct spop_server *server = connection->server;
	enum spop_error error = SPOP_NONE;
	struct frame frame;

	while (connection->phase != PHASE_CLOSING) {
		if (out->end - out->at < ANSWER_ROOM || server->batch_count == BATCH_MAX)
			return true;
		if (!frame_next(stream, connection->frame_limit, &frame, &error))
			break;
		dispatch_frame(connection, &frame, out);
	}
	if (error != SPOP_NONE)
		dispatch_refuse(connection, error, out);
	return false;
}

bool input_process(struct connection *connection)
{
	struct spop_server *server = connection->server;
	struct spop_input stream = { connection->input,
		                     connection->input + connection->input_length };
	bool more = true;

	while (more && connection->phase != PHASE_CLOSING && !output_is_blocked(connection)) {
		struct spop_output out = { server->answers,
			                   server->answers + sizeof(server->answers) };

		more = take_batch(connection, &stream, &out);
		if (!output_flush(connection, (uint32_t)(out.at - server->answers)))
			return false;
	}
	keep_rest(connection, stream.at);
	if (output_is_blocked(connection) && connection->phase != PHASE_CLOSING)
		input_stop(connection);
	return true;
}

/* Nothing more will come. */
static void ended(struct connection *connection)
{
	struct spop_server *server = connection->server;

	if (connection->phase == PHASE_OPEN) {
		server->counters.resets++;
		notices_say(&server->notices, NOTICE_OF_RESET, connection->read_at,
		            "spop: a connection ended without a DISCONNECT");
	}
	connection_close(connection);
}

bool input_turn(struct connection *connection)
{
	struct spop_server *server = connection->server;
	uint32_t room;
	ssize_t got;

	if (output_is_blocked(connection))
		return true;
	if (connection->input_length == connection->input_size && !grow(connection))
		return output_goodbye(connection, SPOP_RESOURCE);
	room = connection->input_size - connection->input_length;
	got = recv(connection->reading.fd, connection->input + connection->input_length, room, 0);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return true;
	connection->read_at = server->context->now();
	if (got <= 0) {
		ended(connection);
		return false;
	}
	connection->active_at =
	        connection->phase == PHASE_HELLO ? connection->active_at : connection->read_at;
	server->counters.bytes_in += (uint64_t)got;
	connection->input_length += (uint32_t)got;
	if (!input_process(connection))
		return false;
	/* There is more where that came from: read more at a time. */
	if ((uint32_t)got == room && connection->input_size < INPUT_USUAL &&
	    connection->phase == PHASE_OPEN)
		(void)resize(connection, INPUT_USUAL);
	return true;
}

/* Our last word is said: wait for the peer's end, whatever it still says. */
static void discard(struct connection *connection)
{
	struct spop_server *server = connection->server;
	ssize_t got = recv(connection->reading.fd, server->answers, sizeof(server->answers), 0);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		connection_close(connection);
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct connection *connection = watcher->data;

	(void)loop;
	(void)events;
	if (connection->phase == PHASE_CLOSING)
		discard(connection);
	else if (!input_turn(connection))
		return;
}

void input_init(struct connection *connection, int fd)
{
	ev_io_init(&connection->reading, on_readable, fd, EV_READ);
	connection->reading.data = connection;
}

void input_resume(struct connection *connection)
{
	ev_io_start(connection->server->loop, &connection->reading);
}

void input_stop(struct connection *connection)
{
	ev_io_stop(connection->server->loop, &connection->reading);
}

void input_done(struct connection *connection)
{
	connection->server->buffered -= beyond_usual(connection->input_size);
	free(connection->input);
}
