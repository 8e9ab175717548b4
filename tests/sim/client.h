/* client.h - one keep-alive connection to an HTTP server, and what each request on it came to.
 *
 * One request at a time. A connection that the server closed between two requests is made anew in
 * silence, as clients do; one that breaks while a request is under way is that request's failure.
 */
#pragma once

#include <ev.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/bytes.h"
#include "tests/sim/http.h"

/* What went wrong with the connection, and how it is written. */
#define CLIENT_ERRORS(X)                                                                           \
	X(NONE, "none")                                                                            \
	X(CONNECT, "connect") /* no connection */                                                  \
	X(RESET, "reset")     /* broken or closed before an answer */                              \
	X(CUT, "cut")         /* broken or closed in the middle of the answer */                   \
	X(TIMEOUT, "timeout")                                                                      \
	X(MALFORMED, "malformed") /* not HTTP, or the body not what was asked for */               \
	X(ABORTED, "aborted")     /* we left, as planned */

enum client_error {
#define X(kind, name) CLIENT_##kind,
	CLIENT_ERRORS(X)
#undef X
};

const char *client_error_name(enum client_error error);

/* Spans live until the request is finished. */
struct client_request {
	struct span head, body; /* sent one after the other, as they are */
	bool send_once;         /* never again on a new connection */
	bool keep_body;         /* the answer's body is wanted: see client_body() */
	double timeout_s;
	double leave_after_s;      /* we leave after this time; 0: we stay */
	int64_t leave_after_bytes; /* we leave after so many bytes of body; 0: we stay */
};

enum { CLIENT_SERVED_MAX = 64 };

struct client_outcome {
	enum client_error error;
	bool resent;
	int status;      /* 0: none came */
	int64_t ttft_us; /* from the send to the first byte of the body; -1: none came */
	int64_t total_us;
	uint64_t body_bytes;
	char served[CLIENT_SERVED_MAX]; /* x-infer-served, or else x-sim-engine; empty: neither */
};

struct client;
typedef void client_listener(struct client *client, const struct client_outcome *outcome);

enum client_state {
	CLIENT_CLOSED,
	CLIENT_IDLE,
	CLIENT_CONNECTING,
	CLIENT_SENDING,
	CLIENT_AWAITING, /* the head of the answer */
	CLIENT_READING,  /* its body */
	CLIENT_FAILED,   /* to be told by the timer */
};

struct client {
	struct ev_loop *loop;
	struct sockaddr_in address;
	struct ev_io readable, writable;
	struct ev_timer deadline, leave;
	enum client_state state;
	client_listener *listener;
	void *user;
	struct client_request request;
	size_t sent; /* of head and body */
	bool reused; /* this connection has served before */
	struct bytes in, body;
	struct http_chunks chunks;
	bool chunked, until_close, close_after;
	uint64_t left; /* of a body by Content-Length */
	int64_t begun_us;
	struct client_outcome outcome;
};

/* The listener is called once for each request begun, and never from within client_begin(). */
void client_init(struct client *client, struct ev_loop *loop, const struct sockaddr_in *address,
                 client_listener *listener, void *user);
void client_done(struct client *client);

/* The client is not busy. */
void client_begin(struct client *client, const struct client_request *request);

bool client_busy(const struct client *client);

/* The body of the answer, if it was to be kept; until the next request. */
struct span client_body(const struct client *client);
