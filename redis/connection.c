/* connection.c - a non-blocking socket, a bounded output, replies matched by their order.
 *
 * hiredis' own connection is not used: its asynchronous one aborts the process at a reply
 * that nobody asked for, has no deadline before 1.0, and tells of a refused connection in
 * one callback and of a lost one in another. Here each end is one call of break_off().
 *
 * A command's callback may send, and so may find the connection broken by the next call;
 * after each callback the state is looked at anew. */
#include "redis/connection.h"

#include <stdio.h>
#include <stdlib.h>

#include "policies/core/bug.h"
#include "redis/output.h"
#include "redis/pending.h"
#include "redis/reader.h"
#include "redis/stream.h"

enum {
	READ_BYTES = 16 * 1024,
	READS_PER_TURN = 4,
	PROBLEM_MAX = 160,
};

enum state {
	CLOSED,
	FAILED, /* could not be tried: the timer tells it */
	OPENING,
	OPEN,
};

struct redis_connection {
	struct redis_connection_options options;
	struct redis_connection_events events;
	enum state state;
	bool counting;
	struct redis_stream stream;
	int watched; /* EV_READ, EV_WRITE */
	char host[REDIS_HOST_MAX];
	struct redis_output output;
	struct redis_pending pending;
	struct redis_reader *reader;
	ev_io io;
	ev_timer timer;
};

/* What the socket is waited for; none while it is closed. */
static void watch(struct redis_connection *connection, int events)
{
	struct ev_loop *loop = connection->options.loop;

	if (events == connection->watched)
		return;
	ev_io_stop(loop, &connection->io);
	connection->watched = events;
	if (events == 0)
		return;
	ev_io_set(&connection->io, connection->stream.fd, events);
	ev_io_start(loop, &connection->io);
}

static void watch_open(struct redis_connection *connection)
{
	bool write =
	        connection->stream.wants_write || connection->output.from < connection->output.to;

	watch(connection, write ? EV_READ | EV_WRITE : EV_READ);
}

static void end(struct redis_connection *connection, const struct redis_expected *expected,
                enum redis_result result, const struct redis_reply *reply)
{
	if (connection->counting)
		connection->options.counters->results[result]++;
	if (expected->on_reply)
		expected->on_reply(expected->data, result, reply);
}

/* Those whose time is over are late, the others lost. */
static void end_all(struct redis_connection *connection, usec_t late_before)
{
	while (connection->pending.count > 0) {
		struct redis_expected expected = redis_pending_pop(&connection->pending);

		end(connection, &expected,
		    expected.deadline <= late_before ? REDIS_RESULT_LATE : REDIS_RESULT_LOST, NULL);
	}
}

/* The state is CLOSED before anybody is called, so that nothing can be sent meanwhile. */
static void hang_up(struct redis_connection *connection, usec_t late_before)
{
	watch(connection, 0);
	ev_timer_stop(connection->options.loop, &connection->timer);
	redis_stream_close(&connection->stream);
	connection->state = CLOSED;
	redis_output_clear(&connection->output);
	end_all(connection, late_before);
}

static void break_off(struct redis_connection *connection, enum redis_fault fault, const char *text)
{
	char kept[PROBLEM_MAX]; /* it may be of what is closed now */

	(void)snprintf(kept, sizeof(kept), "%s", text);
	hang_up(connection, fault == REDIS_FAULT_SILENT ? connection->options.now() : 0);
	connection->events.on_broken(connection->events.data, fault, kept);
}

static void break_by_stream(struct redis_connection *connection)
{
	break_off(connection, connection->stream.fault, connection->stream.problem);
}

static void hand_out(struct redis_connection *connection, const struct redis_reply *reply)
{
	enum redis_result result =
	        reply->kind == REDIS_ERROR ? redis_result_of_error(reply->text) : REDIS_RESULT_OK;
	struct redis_expected expected = redis_pending_pop(&connection->pending);

	if (connection->counting)
		connection->options.counters->replies++;
	end(connection, &expected, result, reply);
	if (result != REDIS_RESULT_OK && connection->counting && connection->state == OPEN)
		connection->events.on_error(connection->events.data, result, reply->text);
}

static void break_stray(struct redis_connection *connection, const struct redis_reply *reply)
{
	char text[128] = "a reply that nobody asked for";

	if (reply->kind == REDIS_ERROR)
		(void)snprintf(text, sizeof(text), "nobody asked, it says: %.*s",
		               reply->text.len < 90 ? (int)reply->text.len : 90, reply->text.at);
	break_off(connection, REDIS_FAULT_STRAY, text);
}

/* False: the connection is closed now. */
static bool hand_out_all(struct redis_connection *connection)
{
	const struct redis_reply *reply = NULL;

	for (;;) {
		switch (redis_reader_next(connection->reader, &reply)) {
		case REDIS_READ_REPLY:
			break;
		case REDIS_READ_MORE:
			return true;
		case REDIS_READ_BROKEN:
			break_off(connection, REDIS_FAULT_PROTOCOL,
			          redis_reader_problem(connection->reader));
			return false;
		case REDIS_READ_TOO_BIG:
			break_off(connection, REDIS_FAULT_TOO_BIG, "a reply larger than is taken");
			return false;
		case REDIS_READ_MEMORY:
			break_off(connection, REDIS_FAULT_MEMORY, "out of memory");
			return false;
		}
		if (connection->pending.count == 0) {
			break_stray(connection, reply);
			return false;
		}
		hand_out(connection, reply);
		if (connection->state != OPEN)
			return false;
	}
}

/* False: the connection is closed now. */
static bool read_some(struct redis_connection *connection)
{
	char bytes[READ_BYTES];

	for (int i = 0; i < READS_PER_TURN; i++) {
		size_t len = 0;

		switch (redis_stream_read(&connection->stream, bytes, sizeof(bytes), &len)) {
		case REDIS_STREAM_DONE:
			break;
		case REDIS_STREAM_WAIT:
			return true;
		case REDIS_STREAM_GONE:
			break_by_stream(connection);
			return false;
		}
		connection->options.counters->bytes_in += len;
		if (!redis_reader_feed(connection->reader, bytes, len)) {
			break_off(connection, REDIS_FAULT_MEMORY, "out of memory");
			return false;
		}
		if (!hand_out_all(connection))
			return false;
	}
	if (redis_stream_has_more(&connection->stream))
		ev_feed_event(connection->options.loop, &connection->io, EV_READ);
	return true;
}

/* False: the connection is closed now. What the store said before it closed is worth more
 * than EPIPE, so that is read first. */
static bool write_some(struct redis_connection *connection)
{
	struct span unsent = redis_output_unsent(&connection->output);
	size_t len = 0;

	if (unsent.len == 0)
		return true;
	switch (redis_stream_write(&connection->stream, unsent, &len)) {
	case REDIS_STREAM_DONE:
		break;
	case REDIS_STREAM_WAIT:
		return true;
	case REDIS_STREAM_GONE:
		if (read_some(connection))
			break_off(connection, REDIS_FAULT_RESET, "the connection broke");
		return false;
	}
	redis_output_sent(&connection->output, len);
	connection->options.counters->bytes_out += len;
	return true;
}

static void go_on(struct redis_connection *connection)
{
	switch (redis_stream_go_on(&connection->stream, connection->options.tls,
	                           connection->host)) {
	case REDIS_STREAM_DONE:
		connection->state = OPEN;
		connection->counting = false;
		watch_open(connection);
		connection->events.on_open(connection->events.data);
		return;
	case REDIS_STREAM_WAIT:
		watch(connection, connection->stream.wants_write ? EV_WRITE : EV_READ);
		return;
	case REDIS_STREAM_GONE:
		break_by_stream(connection);
		return;
	}
}

static void on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct redis_connection *connection = io->data;
	bool readable = (events & EV_READ) || connection->stream.wants_write;

	(void)loop;
	if (connection->state == OPENING)
		go_on(connection);
	else if ((!readable || read_some(connection)) && write_some(connection))
		watch_open(connection);
}

static void arm(struct redis_connection *connection, usec_t deadline)
{
	usec_t now = connection->options.now();
	double after = deadline > now ? (double)(deadline - now) / 1e6 : 0;

	connection->timer.repeat = after > 1e-4 ? after : 1e-4;
	ev_now_update(connection->options.loop);
	ev_timer_again(connection->options.loop, &connection->timer);
}

/* A loop that stood still finds the timer first: what came meanwhile is read before
 * anything is called late. */
static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct redis_connection *connection = timer->data;
	usec_t deadline;

	(void)events;
	if (connection->state == FAILED) {
		break_by_stream(connection);
		return;
	}
	ev_timer_stop(loop, timer);
	if (connection->state != OPEN || connection->pending.count == 0)
		return;
	if (connection->options.now() >= redis_pending_earliest(&connection->pending) &&
	    !read_some(connection))
		return;
	if (connection->pending.count == 0)
		return;
	deadline = redis_pending_earliest(&connection->pending);
	if (connection->options.now() >= deadline)
		break_off(connection, REDIS_FAULT_SILENT, "no reply in time");
	else
		arm(connection, deadline);
}

struct redis_connection *redis_connection_new(const struct redis_connection_options *options,
                                              const struct redis_connection_events *events)
{
	struct redis_connection *connection = calloc(1, sizeof(*connection));

	if (!connection)
		return NULL;
	connection->options = *options;
	connection->events = *events;
	connection->stream.fd = -1;
	ev_init(&connection->io, on_ready);
	ev_init(&connection->timer, on_timer);
	connection->io.data = connection;
	connection->timer.data = connection;
	connection->reader = redis_reader_new(options->reply_max);
	if (!connection->reader || !redis_output_init(&connection->output, options->output_max) ||
	    !redis_pending_init(&connection->pending, options->pending_max)) {
		redis_connection_free(connection);
		return NULL;
	}
	return connection;
}

void redis_connection_free(struct redis_connection *connection)
{
	if (!connection)
		return;
	connection->pending.count = 0; /* nobody is told any more */
	hang_up(connection, 0);
	redis_reader_free(connection->reader);
	redis_output_done(&connection->output);
	redis_pending_done(&connection->pending);
	free(connection);
}

void redis_connection_open(struct redis_connection *connection, const struct redis_address *address,
                           const char *host)
{
	BUG_ON(connection->state != CLOSED);
	(void)snprintf(connection->host, sizeof(connection->host), "%s", host);
	if (!redis_reader_clear(connection->reader)) {
		connection->stream.fault = REDIS_FAULT_MEMORY;
		connection->stream.problem = "out of memory";
	} else if (redis_stream_connect(&connection->stream, address) == REDIS_STREAM_WAIT) {
		connection->state = OPENING;
		watch(connection, EV_WRITE);
		return;
	}
	connection->state = FAILED;
	arm(connection, 0);
}

void redis_connection_close(struct redis_connection *connection)
{
	hang_up(connection, 0);
}

void redis_connection_break(struct redis_connection *connection, enum redis_fault fault,
                            const char *text)
{
	break_off(connection, fault, text);
}

bool redis_connection_send(struct redis_connection *connection, const struct redis_command *command)
{
	struct redis_expected expected = {
		.on_reply = command->on_reply,
		.data = command->data,
		.deadline = connection->options.now() + command->deadline,
	};
	bool sooner;

	BUG_ON(command->count == 0 || command->count > REDIS_WORDS_MAX);
	if (connection->state != OPEN || redis_pending_full(&connection->pending) ||
	    !redis_output_add(&connection->output, command->words, command->count))
		return false;
	sooner = connection->pending.count == 0 ||
	         expected.deadline < redis_pending_earliest(&connection->pending);
	redis_pending_push(&connection->pending, &expected);
	if (sooner)
		arm(connection, expected.deadline);
	watch_open(connection);
	return true;
}

void redis_connection_count(struct redis_connection *connection)
{
	connection->counting = true;
}

size_t redis_connection_unsent(const struct redis_connection *connection)
{
	return connection->output.to - connection->output.from;
}

unsigned redis_connection_pending(const struct redis_connection *connection)
{
	return connection->pending.count;
}
