/* connection.c - reads requests whole, hands them on, sends what was answered.
 *
 * The socket is read also while an answer is under way: that is how a client that leaves is noticed
 * at once. A client that has shut its sending side down counts as gone, as it does with engines. */
#include "tests/sim/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/sim/answer.h"
#include "tests/sim/engine.h"
#include "tests/sim/routes.h"

enum {
	READ_ROOM = 65536,
	READ_ROOM_MAX = 1 << 20,
	PIPELINED_MAX = 1 << 20, /* unread requests behind the one under way */
	RESET_DELAY_MS = 20,
};

void connection_dirty(struct connection *connection)
{
	if (connection->dirty)
		return;
	connection->dirty = true;
	connection->next_dirty = connection->engine->dirty;
	connection->engine->dirty = connection;
}

static void set_timer(struct connection *connection, double seconds)
{
	ev_timer_stop(connection->engine->loop, &connection->timer);
	ev_timer_set(&connection->timer, seconds, 0);
	ev_timer_start(connection->engine->loop, &connection->timer);
}

static void await_request(struct connection *connection)
{
	double keep_alive = connection->engine->options->keep_alive_s;

	if (keep_alive > 0)
		set_timer(connection, keep_alive);
	if (!ev_is_active(&connection->readable))
		ev_io_start(connection->engine->loop, &connection->readable);
}

void connection_answered(struct connection *connection)
{
	connection->state = CONNECTION_READING;
	await_request(connection);
	connection_dirty(connection);
}

void connection_sleep(struct connection *connection, int delay_ms)
{
	connection->state = CONNECTION_SLEEPING;
	set_timer(connection, delay_ms / 1e3);
}

void connection_await(struct connection *connection)
{
	connection->state = CONNECTION_AWAITING;
	ev_timer_stop(connection->engine->loop, &connection->timer);
}

void connection_begin_again(struct connection *connection)
{
	set_timer(connection, 0);
}

void connection_hang(struct connection *connection, bool reset)
{
	connection->state = CONNECTION_HANGING;
	connection->reset_later = reset;
	connection->engine->hanging++;
	if (reset)
		set_timer(connection, RESET_DELAY_MS / 1e3);
	connection_dirty(connection);
}

void connection_close(struct connection *connection, bool reset)
{
	struct ev_loop *loop = connection->engine->loop;

	if (connection->state == CONNECTION_CLOSED)
		return;
	call_abort(connection);
	sidecar_forget(connection);
	if (connection->state == CONNECTION_HANGING)
		connection->engine->hanging--;
	connection->state = CONNECTION_CLOSED;
	ev_io_stop(loop, &connection->readable);
	ev_io_stop(loop, &connection->writable);
	ev_timer_stop(loop, &connection->timer);
	if (reset) {
		struct linger at_once = { 1, 0 };

		(void)setsockopt(connection->readable.fd, SOL_SOCKET, SO_LINGER, &at_once,
		                 sizeof(at_once));
	}
	(void)close(connection->readable.fd);
	connection->engine->counts.connections--;
	connection_dirty(connection);
}

static void client_gone(struct connection *connection)
{
	if (connection->state != CONNECTION_READING && !connection->reset_later)
		connection->engine->counts.aborted++;
	connection_close(connection, false);
}

/* The next request's head; false when it is not there, or was answered as a mistake. */
static bool reads_head(struct connection *connection, struct http_head *head)
{
	struct span in = bytes_span(&connection->in);
	int len = http_head_parse(in, head);

	if (len == 0)
		return false;
	if (len < 0 || head->content_length > CONNECTION_BODY_MAX) {
		answer_error(connection, len < 0 ? 400 : 413, -1, "Not such a request.");
		connection->close_after = true;
		bytes_clear(&connection->in);
		return false;
	}
	connection->seen = connection->head_len = (size_t)len;
	connection->body_len = head->content_length > 0 ? (size_t)head->content_length : 0;
	connection->chunked = head->chunked;
	connection->chunks = (struct http_chunks){ 0 };
	bytes_clear(&connection->unchunked);
	if (head->expects_continue && in.len == (size_t)len)
		bytes_text(&connection->out, "HTTP/1.1 100 Continue\r\n\r\n");
	return true;
}

/* Decodes what has come; true when the body is whole. */
static bool reads_chunks(struct connection *connection)
{
	struct span in = bytes_span(&connection->in);
	struct span payload;
	int64_t used;

	do {
		struct span rest = { in.at + connection->seen, in.len - connection->seen };

		used = http_chunks_read(&connection->chunks, rest, &payload);
		if (used < 0 ||
		    bytes_len(&connection->unchunked) + payload.len > CONNECTION_BODY_MAX) {
			answer_error(connection, used < 0 ? 400 : 413, -1, "Not such a body.");
			connection->close_after = true;
			return false;
		}
		bytes_span_add(&connection->unchunked, payload);
		connection->seen += (size_t)used;
	} while (used > 0);
	return http_chunks_done(&connection->chunks);
}

/* Answers the request at the front of in, if it is whole; false: nothing more to do now. */
static bool serves_one(struct connection *connection)
{
	struct http_head head;
	struct request request = { .head = &head };
	struct span in;
	const char *query;

	if (connection->seen == 0 && !reads_head(connection, &head))
		return false;
	if (connection->chunked
	            ? !http_chunks_done(&connection->chunks) && !reads_chunks(connection)
	            : bytes_len(&connection->in) < connection->head_len + connection->body_len)
		return false;
	in = bytes_span(&connection->in);
	if (http_head_parse(in, &head) < 0)
		return false;
	if (!connection->chunked)
		connection->seen = connection->head_len + connection->body_len;
	request.path = head.words[1];
	query = memchr(request.path.at, '?', request.path.len);
	if (query)
		request.path.len = (size_t)(query - request.path.at);
	request.body = (struct span){ in.at + connection->head_len, connection->body_len };
	if (connection->chunked)
		request.body = bytes_span(&connection->unchunked);
	connection->close_after = connection->close_said = head.close;
	connection->state = CONNECTION_ANSWERING;
	routes_serve(connection, &request);
	if (connection->state == CONNECTION_SLEEPING || connection->state == CONNECTION_AWAITING ||
	    connection->state == CONNECTION_CLOSED)
		return false;
	bytes_take(&connection->in, connection->seen);
	connection->seen = 0;
	connection->slept = false;
	sidecar_forget(connection);
	return true;
}

static void send_out(struct connection *connection)
{
	struct ev_loop *loop = connection->engine->loop;

	while (bytes_len(&connection->out) > 0) {
		struct span out = bytes_span(&connection->out);
		ssize_t sent = send(connection->readable.fd, out.at, out.len, MSG_NOSIGNAL);

		if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
			ev_io_start(loop, &connection->writable);
			return;
		}
		if (sent < 0) {
			client_gone(connection);
			return;
		}
		bytes_take(&connection->out, (size_t)sent);
	}
	if (ev_is_active(&connection->writable))
		ev_io_stop(loop, &connection->writable);
	if (connection->close_after && connection->state == CONNECTION_READING)
		connection_close(connection, false);
}

static void release(struct connection *connection)
{
	sidecar_free(connection->sidecar);
	free(connection->call.blocks);
	bytes_done(&connection->in);
	bytes_done(&connection->out);
	bytes_done(&connection->unchunked);
	free(connection);
}

void connection_flush_all(struct engine *engine)
{
	while (engine->dirty) {
		struct connection *connection = engine->dirty;

		engine->dirty = connection->next_dirty;
		connection->dirty = false;
		if (connection->state == CONNECTION_CLOSED) {
			release(connection);
			continue;
		}
		while (connection->state == CONNECTION_READING && !connection->close_after &&
		       bytes_len(&connection->in) > 0 && serves_one(connection))
			continue;
		if (connection->state != CONNECTION_CLOSED)
			send_out(connection);
	}
}

/* How much to read at once: a long body that was announced in few turns. */
static size_t read_room(const struct connection *connection)
{
	size_t whole = connection->head_len + connection->body_len;
	size_t have = bytes_len(&connection->in);

	if (connection->seen == 0 || connection->chunked || whole < have + READ_ROOM)
		return READ_ROOM;
	return whole - have < READ_ROOM_MAX ? whole - have : READ_ROOM_MAX;
}

static void on_readable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
	struct connection *connection = watcher->data;
	struct engine *engine = connection->engine;
	size_t room = read_room(connection);
	ssize_t got = recv(watcher->fd, bytes_room(&connection->in, room), room, 0);

	(void)events;
	if (got > 0) {
		bytes_added(&connection->in, (size_t)got);
		if (connection->state != CONNECTION_READING &&
		    bytes_len(&connection->in) > connection->seen + PIPELINED_MAX)
			ev_io_stop(loop, watcher);
		connection_dirty(connection);
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		client_gone(connection);
	}
	connection_flush_all(engine);
}

static void on_writable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
	struct connection *connection = watcher->data;

	(void)loop;
	(void)events;
	connection_dirty(connection);
	connection_flush_all(connection->engine);
}

static void on_timer(struct ev_loop *loop, struct ev_timer *watcher, int events)
{
	struct connection *connection = watcher->data;
	struct engine *engine = connection->engine;

	(void)loop;
	(void)events;
	if (connection->state == CONNECTION_SLEEPING || connection->state == CONNECTION_AWAITING) {
		connection->slept = connection->state == CONNECTION_SLEEPING;
		connection->state = CONNECTION_READING;
		connection_dirty(connection);
	} else if (connection->state == CONNECTION_HANGING && connection->reset_later) {
		connection_close(connection, true);
	} else if (connection->state == CONNECTION_READING && bytes_len(&connection->in) == 0) {
		connection_close(connection, false);
	}
	connection_flush_all(engine);
}

void connection_new(struct engine *engine, int fd)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (!connection) {
		(void)close(fd);
		engine->counts.connections--;
		return;
	}
	connection->engine = engine;
	ev_io_init(&connection->readable, on_readable, fd, EV_READ);
	ev_io_init(&connection->writable, on_writable, fd, EV_WRITE);
	ev_init(&connection->timer, on_timer);
	connection->readable.data = connection->writable.data = connection->timer.data = connection;
	await_request(connection);
}
