/* listen.c - libmicrohttpd on libev: one daemon an address, two watchers each.
 *
 * The daemon has no thread of its own. Whatever wakes it - its epoll descriptor
 * or the timeout it asked for - it runs once, and its next timeout is asked for
 * anew. We bind the sockets: given a port alone, the library would listen on
 * every address of the machine. */
#include "spoa/web/listen.h"

#include <ev.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spoa/web/address.h"

enum { DAEMONS_MAX = 8 };

struct daemon {
	struct ev_io ready;
	struct ev_timer due;
	struct MHD_Daemon *http;
	struct listening socket;
};

struct listener {
	struct ev_loop *loop;
	struct listen_options options;
	struct daemon daemons[DAEMONS_MAX];
	size_t count;
};

/* One request while its body comes in. */
struct exchange {
	char *body;
	size_t len, room;
	bool too_big;
};

static unsigned connections_of(struct MHD_Daemon *http)
{
	const union MHD_DaemonInfo *info =
	        MHD_get_daemon_info(http, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

/* At its limit the library stops listening, and begins again only at the start
 * of a run: when connections ended in this one, nothing would wake it for those
 * that wait in the backlog. */
static void run(struct ev_loop *loop, struct daemon *daemon)
{
	unsigned open = connections_of(daemon->http);
	MHD_UNSIGNED_LONG_LONG wait_ms;

	(void)MHD_run(daemon->http);
	if (connections_of(daemon->http) < open)
		(void)MHD_run(daemon->http);
	ev_timer_stop(loop, &daemon->due);
	if (MHD_get_timeout(daemon->http, &wait_ms) == MHD_YES) {
		ev_timer_set(&daemon->due, (double)wait_ms / 1000.0, 0.0);
		ev_timer_start(loop, &daemon->due);
	}
}

static void on_ready(struct ev_loop *loop, struct ev_io *watcher, int events)
{
	(void)events;
	run(loop, watcher->data);
}

static void on_due(struct ev_loop *loop, struct ev_timer *watcher, int events)
{
	(void)events;
	run(loop, watcher->data);
}

static bool is_loopback(const struct sockaddr *peer)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in4;
		struct sockaddr_in6 in6;
	} name = { .any.sa_family = peer->sa_family };

	if (peer->sa_family == AF_INET) {
		memcpy(&name.in4, peer, sizeof(name.in4));
		return ntohl(name.in4.sin_addr.s_addr) >> 24 == 127;
	}
	if (peer->sa_family != AF_INET6)
		return false;
	memcpy(&name.in6, peer, sizeof(name.in6));
	if (IN6_IS_ADDR_V4MAPPED(&name.in6.sin6_addr))
		return name.in6.sin6_addr.s6_addr[12] == 127;
	return IN6_IS_ADDR_LOOPBACK(&name.in6.sin6_addr);
}

/* What libmicrohttpd 1.0 answers is good until the next question only. */
static int socket_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
	        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static bool is_from_loopback(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
	        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info && is_loopback(info->client_addr);
}

/* The family is asked first: credentials of a TCP peer "succeed", with uid -1. */
static void who_asks(struct MHD_Connection *connection, struct web_request *ret_request)
{
	struct ucred credentials;
	socklen_t size = sizeof(int);
	int fd = socket_of(connection);
	int family = AF_UNSPEC;

	ret_request->peer = WEB_PEER_OTHER;
	ret_request->uid = (uid_t)-1;
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0)
		return;
	size = sizeof(credentials);
	if (family == AF_UNIX &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
		ret_request->peer = WEB_PEER_UNIX;
		ret_request->uid = credentials.uid;
	} else if (family != AF_UNIX && is_from_loopback(connection)) {
		ret_request->peer = WEB_PEER_LOOPBACK;
	}
}

static enum MHD_Result keep_argument(void *data, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
	struct web_request *request = data;

	(void)kind;
	if (request->argument_count == WEB_ARGUMENTS_MAX)
		return MHD_NO;
	request->arguments[request->argument_count++] =
	        (struct web_argument){ name, value ? value : "" };
	return MHD_YES;
}

/* Takes the answer's body, whatever happens. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct web_answer *answer)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
	        answer->body ? answer->len : 0, answer->body,
	        answer->body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response) {
		free(answer->body);
		return MHD_NO;
	}
	(void)MHD_add_response_header(response, "Cache-Control", "no-store");
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (answer->content_type)
		(void)MHD_add_response_header(response, "Content-Type", answer->content_type);
	if (answer->allow)
		(void)MHD_add_response_header(response, "Allow", answer->allow);
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse_body(const struct listener *listener,
                                   struct MHD_Connection *connection)
{
	struct web_answer answer;
	char detail[64];

	(void)snprintf(detail, sizeof(detail), "the limit is %zu bytes",
	               listener->options.body_max);
	web_problem(&answer, MHD_HTTP_CONTENT_TOO_LARGE, "Content Too Large", detail);
	return send_answer(connection, &answer);
}

static enum MHD_Result answer_request(const struct listener *listener,
                                      struct MHD_Connection *connection, const char *path,
                                      const char *method, const struct exchange *exchange)
{
	struct web_request request = { .path = path, .body = exchange->body };
	struct web_answer answer = { 0 };
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");

	/* The library itself leaves the body of a HEAD away. */
	request.method = strcmp(method, "HEAD") == 0 ? "GET" : method;
	request.accept = accept ? accept : "";
	request.body_len = exchange->len;
	who_asks(connection, &request);
	(void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, keep_argument, &request);
	listener->options.handle(listener->options.data, &request, &answer);
	return send_answer(connection, &answer);
}

/* Headers are in. A body announced as too big is refused before it comes. */
static enum MHD_Result begin(const struct listener *listener, struct MHD_Connection *connection,
                             void **ret_exchange)
{
	const char *length =
	        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");

	if (length && strtoull(length, NULL, 10) > listener->options.body_max)
		return refuse_body(listener, connection);
	*ret_exchange = calloc(1, sizeof(struct exchange));
	return *ret_exchange ? MHD_YES : MHD_NO;
}

/* A chunked body shows its size only as it comes. What is too much is thrown
 * away until its end, where it can be answered; who sends twice the limit is
 * cut off. */
static enum MHD_Result keep_body(const struct listener *listener, struct exchange *exchange,
                                 const char *data, size_t *left)
{
	size_t max = listener->options.body_max;
	size_t need = exchange->len + *left;

	if (need > max)
		exchange->too_big = true;
	if (!exchange->too_big && need > exchange->room) {
		size_t room = need < 4096 ? 4096 : 2 * need;
		char *body = realloc(exchange->body, room);

		if (!body)
			return MHD_NO;
		exchange->body = body;
		exchange->room = room;
	}
	if (!exchange->too_big)
		memcpy(exchange->body + exchange->len, data, *left);
	exchange->len = need;
	*left = 0;
	return need > 2 * max ? MHD_NO : MHD_YES;
}

/* The library calls it several times a request: for the headers, for each piece
 * of the body, and when all is there. Its parameters are the library's. */
// NOLINTNEXTLINE(readability-function-size)
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **exchange)
{
	const struct listener *listener = data;
	struct exchange *begun = *exchange;

	(void)version;
	if (!begun)
		return begin(listener, connection, exchange);
	if (*upload_len > 0)
		return keep_body(listener, begun, upload, upload_len);
	if (begun->too_big)
		return refuse_body(listener, connection);
	return answer_request(listener, connection, path, method, begun);
}

static void on_completed(void *data, struct MHD_Connection *connection, void **exchange,
                         enum MHD_RequestTerminationCode why)
{
	struct exchange *begun = *exchange;

	(void)data;
	(void)connection;
	(void)why;
	if (begun)
		free(begun->body);
	free(begun);
	*exchange = NULL;
}

static bool daemon_start(struct listener *listener, struct daemon *daemon)
{
	const struct listen_options *options = &listener->options;
	const union MHD_DaemonInfo *info;

	daemon->http = MHD_start_daemon(
	        MHD_USE_EPOLL, 0, NULL, NULL, on_request, listener, MHD_OPTION_LISTEN_SOCKET,
	        daemon->socket.fd, MHD_OPTION_CONNECTION_LIMIT, options->connections,
	        MHD_OPTION_CONNECTION_TIMEOUT, options->timeout, MHD_OPTION_NOTIFY_COMPLETED,
	        on_completed, NULL, MHD_OPTION_END);
	if (!daemon->http)
		return false;
	info = MHD_get_daemon_info(daemon->http, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info) {
		MHD_stop_daemon(daemon->http);
		return false;
	}
	ev_io_init(&daemon->ready, on_ready, info->epoll_fd, EV_READ);
	ev_init(&daemon->due, on_due);
	daemon->ready.data = daemon;
	daemon->due.data = daemon;
	ev_io_start(listener->loop, &daemon->ready);
	run(listener->loop, daemon);
	return true;
}

static void daemon_stop(struct listener *listener, struct daemon *daemon)
{
	ev_io_stop(listener->loop, &daemon->ready);
	ev_timer_stop(listener->loop, &daemon->due);
	MHD_stop_daemon(daemon->http); /* closes the socket, too */
	address_unlink(&daemon->socket);
}

static bool listen_add(struct listener *listener, const char *address, char *ret_reason)
{
	struct daemon *daemon = &listener->daemons[listener->count];

	if (!address_listen(address, listener->options.mode, &daemon->socket, ret_reason))
		return false;
	if (!daemon_start(listener, daemon)) {
		(void)snprintf(ret_reason, WEB_REASON_MAX, "%s: cannot start HTTP", address);
		address_unlink(&daemon->socket);
		(void)close(daemon->socket.fd);
		return false;
	}
	listener->count++;
	return true;
}

struct listener *listen_new(struct ev_loop *loop, const struct listen_options *options,
                            char *ret_reason)
{
	struct listener *listener = calloc(1, sizeof(*listener));

	if (!listener) {
		(void)snprintf(ret_reason, WEB_REASON_MAX, "out of memory");
		return NULL;
	}
	listener->loop = loop;
	listener->options = *options;
	for (size_t i = 0; i < options->address_count; i++) {
		if (i == DAEMONS_MAX) {
			(void)snprintf(ret_reason, WEB_REASON_MAX, "at most %d addresses",
			               (int)DAEMONS_MAX);
			listen_free(listener);
			return NULL;
		}
		if (!listen_add(listener, options->addresses[i], ret_reason)) {
			listen_free(listener);
			return NULL;
		}
	}
	return listener;
}

void listen_free(struct listener *listener)
{
	if (!listener)
		return;
	for (size_t i = 0; i < listener->count; i++)
		daemon_stop(listener, &listener->daemons[i]);
	free(listener);
}

uint16_t listen_port(const struct listener *listener, size_t i)
{
	return i < listener->count ? listener->daemons[i].socket.port : 0;
}

unsigned listen_connections(const struct listener *listener)
{
	unsigned open = 0;

	for (size_t i = 0; i < listener->count; i++)
		open += connections_of(listener->daemons[i].http);
	return open;
}
