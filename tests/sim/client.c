/* client.c - connect, send, read, measure.
 *
 * A failure of connect() is told a little later, by the timer: so the listener
 * may begin the next request at once and nothing recurses, nor spins on a port where nobody is. */
#include "tests/sim/client.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/sim/clock.h"

enum { READ_ROOM = 65536, IDLE_LOOK_US = 1000, NO_BODY_204 = 204, NO_BODY_304 = 304 };

static const double failure_delay_s = 0.01;

const char *client_error_name(enum client_error error)
{
	static const char *const names[] = {
#define X(kind, name) name,
		CLIENT_ERRORS(X)
#undef X
	};

	return names[error];
}

static void hang_up(struct client *client)
{
	if (client->state == CLIENT_CLOSED)
		return;
	ev_io_stop(client->loop, &client->readable);
	ev_io_stop(client->loop, &client->writable);
	if (client->readable.fd >= 0)
		(void)close(client->readable.fd);
	client->readable.fd = -1;
	client->state = CLIENT_CLOSED;
}

static void finish(struct client *client, enum client_error error)
{
	ev_timer_stop(client->loop, &client->deadline);
	if (ev_is_active(&client->leave))
		ev_timer_stop(client->loop, &client->leave);
	client->outcome.error = error;
	client->outcome.total_us = clock_us() - client->begun_us;
	if (error != CLIENT_NONE || client->close_after ||
	    client->sent < client->request.head.len + client->request.body.len)
		hang_up(client);
	else
		client->state = CLIENT_IDLE;
	client->reused = true;
	client->listener(client, &client->outcome);
}

static void fail_later(struct client *client)
{
	hang_up(client);
	client->state = CLIENT_FAILED;
	ev_timer_stop(client->loop, &client->leave);
	ev_timer_set(&client->leave, failure_delay_s, 0);
	ev_timer_start(client->loop, &client->leave);
}

/* An iovec wants it so; writev() does not write there. */
static char *writable(const char *at)
{
	char *same;

	memcpy(&same, &at, sizeof(same));
	return same;
}

/* A connection that breaks here is told by recv(): an answer may have come before. */
static void send_rest(struct client *client)
{
	const struct client_request *request = &client->request;
	size_t whole = request->head.len + request->body.len;

	while (client->sent < whole) {
		struct span parts[2] = { request->head, request->body };
		struct iovec vectors[2];
		size_t skip = client->sent;
		ssize_t sent;

		for (int i = 0; i < 2; i++) {
			size_t cut = skip < parts[i].len ? skip : parts[i].len;

			vectors[i].iov_base = writable(parts[i].at) + cut;
			vectors[i].iov_len = parts[i].len - cut;
			skip -= cut;
		}
		sent = writev(client->readable.fd, vectors, 2);
		if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
			ev_io_start(client->loop, &client->writable);
			return;
		}
		if (sent < 0)
			break;
		client->sent += (size_t)sent;
	}
	if (ev_is_active(&client->writable))
		ev_io_stop(client->loop, &client->writable);
	if (client->state == CLIENT_SENDING)
		client->state = CLIENT_AWAITING;
}

static bool connects(struct client *client)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	ev_io_set(&client->readable, fd, EV_READ);
	ev_io_set(&client->writable, fd, EV_WRITE);
	client->state = CLIENT_CONNECTING;
	client->reused = false;
	if (connect(fd, (const struct sockaddr *)&client->address, sizeof(client->address)) &&
	    errno != EINPROGRESS)
		return false;
	ev_io_start(client->loop, &client->writable);
	return true;
}

static void on_writable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
	struct client *client = watcher->data;
	int error = 0;
	socklen_t len = sizeof(error);

	(void)events;
	if (client->state == CLIENT_CONNECTING) {
		(void)getsockopt(watcher->fd, SOL_SOCKET, SO_ERROR, &error, &len);
		if (error) {
			client->outcome.error = CLIENT_CONNECT;
			fail_later(client);
			return;
		}
		client->state = CLIENT_SENDING;
		ev_io_start(loop, &client->readable);
	}
	send_rest(client);
}

static void note_served(struct client *client, const struct http_head *head)
{
	struct span served = http_field_named(head, "x-infer-served");

	if (!served.at)
		served = http_field_named(head, "x-sim-engine");
	if (served.len >= CLIENT_SERVED_MAX)
		served.len = CLIENT_SERVED_MAX - 1;
	if (served.len > 0)
		memcpy(client->outcome.served, served.at, served.len);
	client->outcome.served[served.len] = '\0';
}

/* The head of the answer, if it is there; interim answers are dropped. */
static enum client_error reads_head(struct client *client)
{
	struct http_head head;
	int len;

	do {
		len = http_head_parse(bytes_span(&client->in), &head);
		if (len < 0 || (len > 0 && http_status(&head) < 0))
			return CLIENT_MALFORMED;
		if (len == 0)
			return CLIENT_NONE;
		bytes_take(&client->in, (size_t)len);
	} while (http_status(&head) < 200);
	client->outcome.status = http_status(&head);
	note_served(client, &head);
	client->chunked = head.chunked;
	client->chunks = (struct http_chunks){ 0 };
	client->until_close = !head.chunked && head.content_length < 0 &&
	                      client->outcome.status != NO_BODY_204 &&
	                      client->outcome.status != NO_BODY_304;
	client->left = head.content_length > 0 ? (uint64_t)head.content_length : 0;
	client->close_after = head.close || client->until_close;
	client->state = CLIENT_READING;
	return CLIENT_NONE;
}

static void takes_payload(struct client *client, struct span payload)
{
	if (payload.len == 0)
		return;
	if (client->outcome.ttft_us < 0)
		client->outcome.ttft_us = clock_us() - client->begun_us;
	client->outcome.body_bytes += payload.len;
	if (client->request.keep_body)
		bytes_span_add(&client->body, payload);
}

/* True when the body is whole; an error in ret_error otherwise means what it says. */
static bool reads_body(struct client *client, enum client_error *ret_error)
{
	struct span payload = bytes_span(&client->in);
	int64_t used;

	*ret_error = CLIENT_NONE;
	if (!client->chunked) {
		if (!client->until_close && payload.len > client->left)
			payload.len = client->left;
		takes_payload(client, payload);
		client->left -= client->until_close ? 0 : payload.len;
		bytes_take(&client->in, payload.len);
		return !client->until_close && client->left == 0;
	}
	do {
		used = http_chunks_read(&client->chunks, bytes_span(&client->in), &payload);
		if (used < 0) {
			*ret_error = CLIENT_MALFORMED;
			return false;
		}
		takes_payload(client, payload);
		bytes_take(&client->in, (size_t)used);
	} while (used > 0);
	return http_chunks_done(&client->chunks);
}

static void take_input(struct client *client)
{
	enum client_error error = CLIENT_NONE;
	bool whole = false;

	if (client->state != CLIENT_READING)
		error = reads_head(client);
	if (error == CLIENT_NONE && client->state == CLIENT_READING)
		whole = reads_body(client, &error);
	if (error != CLIENT_NONE)
		finish(client, error);
	else if (client->request.leave_after_bytes > 0 && !whole &&
	         client->outcome.body_bytes >= (uint64_t)client->request.leave_after_bytes)
		finish(client, CLIENT_ABORTED);
	else if (whole)
		finish(client, CLIENT_NONE);
}

static void send_again(struct client *client)
{
	client->outcome.resent = true;
	client->sent = 0;
	hang_up(client);
	if (!connects(client))
		fail_later(client);
}

static void lost(struct client *client, bool in_order)
{
	if (client->state == CLIENT_IDLE)
		hang_up(client);
	else if (client->state == CLIENT_READING)
		finish(client, in_order && client->until_close ? CLIENT_NONE : CLIENT_CUT);
	else if (client->reused && !client->request.send_once && bytes_len(&client->in) == 0)
		send_again(client);
	else
		finish(client, CLIENT_RESET);
}

static void on_readable(struct ev_loop *loop, struct ev_io *watcher, int events)
{
	struct client *client = watcher->data;
	ssize_t got = recv(watcher->fd, bytes_room(&client->in, READ_ROOM), READ_ROOM, 0);

	(void)loop;
	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0 || client->state == CLIENT_IDLE) {
		lost(client, got == 0);
		return;
	}
	bytes_added(&client->in, (size_t)got);
	take_input(client);
}

static void on_deadline(struct ev_loop *loop, struct ev_timer *watcher, int events)
{
	struct client *client = watcher->data;
	int64_t left_us =
	        client->begun_us + (int64_t)(client->request.timeout_s * 1e6) - clock_us();

	(void)events;
	if (!client_busy(client)) {
		ev_timer_stop(loop, watcher);
	} else if (left_us > 0) {
		watcher->repeat = (double)left_us / 1e6;
		ev_timer_again(loop, watcher);
	} else {
		finish(client, CLIENT_TIMEOUT);
	}
}

static void on_leave(struct ev_loop *loop, struct ev_timer *watcher, int events)
{
	struct client *client = watcher->data;

	(void)loop;
	(void)events;
	if (client->state == CLIENT_FAILED)
		finish(client, client->outcome.error);
	else
		finish(client, CLIENT_ABORTED);
}

void client_init(struct client *client, struct ev_loop *loop, const struct sockaddr_in *address,
                 client_listener *listener, void *user)
{
	*client = (struct client){ .loop = loop, .address = *address, .listener = listener };
	client->user = user;
	ev_io_init(&client->readable, on_readable, -1, EV_READ);
	ev_io_init(&client->writable, on_writable, -1, EV_WRITE);
	ev_init(&client->deadline, on_deadline);
	ev_init(&client->leave, on_leave);
	client->readable.data = client->writable.data = client;
	client->deadline.data = client->leave.data = client;
}

void client_done(struct client *client)
{
	ev_timer_stop(client->loop, &client->deadline);
	ev_timer_stop(client->loop, &client->leave);
	hang_up(client);
	bytes_done(&client->in);
	bytes_done(&client->body);
}

/* An idle connection has nothing to say but that it is over. */
static bool has_news(const struct client *client)
{
	char byte;

	return recv(client->readable.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

void client_begin(struct client *client, const struct client_request *request)
{
	int64_t now = clock_us();
	int64_t idle_us = now - client->begun_us - client->outcome.total_us;

	if (client->state == CLIENT_IDLE && idle_us > IDLE_LOOK_US && has_news(client))
		hang_up(client);
	client->request = *request;
	client->sent = 0;
	client->begun_us = now;
	client->outcome = (struct client_outcome){ .ttft_us = -1, .error = CLIENT_CONNECT };
	bytes_clear(&client->in);
	bytes_clear(&client->body);
	if (!ev_is_active(&client->deadline)) {
		client->deadline.repeat = request->timeout_s;
		ev_timer_again(client->loop, &client->deadline);
	}
	if (request->leave_after_s > 0) {
		ev_timer_set(&client->leave, request->leave_after_s, 0);
		ev_timer_start(client->loop, &client->leave);
	}
	if (client->state == CLIENT_IDLE) {
		client->state = CLIENT_SENDING;
		send_rest(client);
	} else if (!connects(client)) {
		fail_later(client);
	}
}

bool client_busy(const struct client *client)
{
	return client->state != CLIENT_CLOSED && client->state != CLIENT_IDLE;
}

struct span client_body(const struct client *client)
{
	return bytes_span(&client->body);
}
