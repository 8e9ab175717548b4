/* state.h - what the files of this room share: the server and its connections.
 *
 * A connection's way: its HELLO is awaited, then it is open, then it is closing:
 * our last frame is written or queued, what still comes is dropped, and the peer
 * gets a moment to close first, so that no reset overtakes our last words. */
#pragma once

#include <ev.h>

#include "spoa/server/late.h"
#include "spoa/server/listener.h"
#include "spoa/server/server.h"
#include "spoa/spop/frame.h"

enum {
	LISTENERS_MAX = 16,
	INPUT_FIRST = 4096,                     /* bytes a new connection may send before we grow */
	INPUT_USUAL = 32 * 1024,                /* bytes read in one turn */
	ANSWERS_BYTES = 64 * 1024,              /* bytes written in one turn */
	ANSWER_ROOM = MESSAGES_ANSWER_MAX + 64, /* the largest frame we send */
	BATCH_MAX = 1024,                       /* decisions in one turn */
	LATE_RECORDS = 4096,
};

enum phase { PHASE_HELLO, PHASE_OPEN, PHASE_CLOSING };

struct connection {
	struct spop_server *server;
	struct connection *next, **link; /* link: what points to us */
	ev_io reading, writing;
	enum phase phase;
	uint32_t source;
	uint32_t frame_limit; /* largest frame the peer may send */

	uint8_t *input; /* begins with a frame's first byte */
	uint32_t input_size, input_length;
	uint8_t *output; /* what the kernel did not take yet; NULL while it takes all */
	uint32_t output_size, output_at, output_length;
	uint64_t written; /* bytes given to the kernel, ever */
	struct late_queue late;

	usec_t active_at;  /* accepted, or last byte either way */
	usec_t read_at;    /* last byte read */
	usec_t frame_at;   /* since when a part of a frame waits for its rest; 0 = none */
	usec_t stuck_at;   /* since when the kernel takes nothing; 0 = it does */
	usec_t closing_at; /* our last frame */
	bool said_goodbye; /* the peer did */
	bool shut;         /* we have ended our side */
};

/* A decision of this turn, until its answer has been written. */
struct answered {
	struct span id; /* in the connection's input */
	uint32_t end;   /* offset behind its answer in server->answers */
};

struct spop_server {
	struct ev_loop *loop;
	struct spop_server_options options;
	struct message_context *context;
	struct spop_server_counters counters;
	struct notices notices;

	struct listener listeners[LISTENERS_MAX];
	size_t listener_count;
	struct connection *connections;
	ev_timer sweep;
	uint64_t buffered; /* bytes of all inputs and outputs beyond INPUT_USUAL */
	bool leaving;      /* health checks fail */

	struct late_pool late;
	/* The answers of the connection whose turn it is. */
	struct answered batch[BATCH_MAX];
	uint32_t batch_count;
	uint8_t answers[ANSWERS_BYTES + ANSWER_ROOM];
};
