/* connection.h - one client's connection to an engine: requests in, one after the other, answers
 * out.
 *
 * Requests may be pipelined: the next one is looked at when the answer to the one before is whole.
 * What an answer needs is added to out, then connection_dirty(); it is sent when the callback under
 * way is over (connection_flush_all), so that nobody's connection goes away under his feet. */
#pragma once

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/bytes.h"
#include "tests/sim/call.h"
#include "tests/sim/http.h"
#include "tests/sim/sidecar.h"

struct engine;

enum { CONNECTION_BODY_MAX = 64 << 20 };

enum connection_state {
	CONNECTION_READING,  /* no request under way */
	CONNECTION_SLEEPING, /* the request at the front of in begins later */
	CONNECTION_AWAITING, /* it begins when somebody else has answered */
	CONNECTION_ANSWERING,
	CONNECTION_HANGING, /* never to be answered, or not to its end */
	CONNECTION_CLOSED,  /* to be freed by the flush */
};

struct connection {
	struct engine *engine;
	struct ev_io readable, writable;
	struct ev_timer timer; /* a fault's delay, or the keep-alive time */
	enum connection_state state;
	struct bytes in, out;
	struct bytes unchunked; /* the body, when it came in chunks */
	struct http_chunks chunks;
	size_t seen; /* bytes of in that are the head and what is read of chunks; 0: no head yet */
	size_t head_len;
	size_t body_len; /* by Content-Length */
	bool chunked;
	bool slept;       /* this request had its delay */
	bool close_after; /* the answer under way */
	bool close_said;  /* and the answer says so */
	bool reset_later; /* what the timer is for */
	bool dirty;
	struct connection *next_dirty;
	enum sidecar_state prompt;
	struct sidecar *sidecar; /* NULL until it is needed */
	struct call call;
};

/* A request that is all there; the spans live until the function that got it returns. */
struct request {
	const struct http_head *head;
	struct span path; /* without the query */
	struct span body;
};

/* Takes the socket. */
void connection_new(struct engine *engine, int fd);

/* There is something to send, or something changed. */
void connection_dirty(struct connection *connection);

/* The answer under way is whole. */
void connection_answered(struct connection *connection);

/* Comes back to the same request in so many milliseconds. */
void connection_sleep(struct connection *connection, int delay_ms);

/* The request waits until connection_begin_again(), and is begun anew when the callback under way
 * is over. */
void connection_await(struct connection *connection);
void connection_begin_again(struct connection *connection);

/* No more will come of this request; with reset, the connection is reset when what is in out has
 * had the time to arrive. */
void connection_hang(struct connection *connection, bool reset);

/* Closes; reset drops what was not sent and tells the client so. */
void connection_close(struct connection *connection, bool reset);

void connection_flush_all(struct engine *engine);
