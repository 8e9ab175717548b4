/* server.h - the SPOP server: HAProxy's connections on our event loop.
 *
 * One loop, one thread. Nothing here blocks. What a peer can make us hold is
 * bounded by the options: connections, bytes in, bytes out, seconds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"
#include "spoa/messages/messages.h"
#include "spoa/server/notices.h"
#include "spoa/spop/frame.h"

struct ev_loop;
struct spop_server;

/* spop_server_options_default() has working values for all but the sink. */
struct spop_server_options {
	uint32_t max_connections; /* beyond it a connection is closed at once; 4096 */
	uint32_t max_frame_size;  /* we answer the smaller of HAProxy's and this; 1 MiB */
	uint32_t output_limit; /* bytes of answers unread by a peer, then we stop reading; 64 KiB */
	uint64_t buffer_limit; /* bytes of all long frames and unread answers together; 256 MiB */
	usec_t handshake_timeout;  /* from accept to a whole HELLO; 5 s */
	usec_t frame_timeout;      /* from a frame's first byte to its last; 10 s */
	usec_t write_timeout;      /* a peer that takes none of our bytes; 10 s */
	usec_t idle_timeout;       /* then DISCONNECT 0; 60 s */
	usec_t linger_timeout;     /* after our last frame, for the peer to close; 1 s */
	usec_t processing_timeout; /* HAProxy's: an answer later than this was in vain; 50 ms */
	struct notice_sink log;
};

/* How to make a socket; all zero = defaults. */
struct spop_listen_options {
	uint32_t source;   /* which HAProxy asks here: index of its runtime socket */
	uint32_t backlog;  /* 0: 1024 */
	uint32_t mode;     /* of a unix socket's file; 0: 0660 */
	const char *user;  /* owner of the file; NULL: ours */
	const char *group; /* NULL: ours */
};

/* Read for the metric page. FRAME_TYPES and SPOP_ERRORS give rows their names. */
struct spop_server_counters {
	uint32_t open;
	uint64_t accepted;         /* handshakes, without checks */
	uint64_t checks;           /* health checks answered */
	uint64_t refused;          /* beyond max_connections, or no handshake came of it */
	uint64_t frames[256];      /* by type, both ways */
	uint64_t unknown_frames;   /* of no type we know */
	uint64_t errors[100];      /* DISCONNECTs sent, by code */
	uint64_t peer_errors[101]; /* DISCONNECTs got, by code; 100: any other number */
	uint64_t resets;           /* ended without a DISCONNECT */
	uint64_t idle_closed;
	uint64_t late;           /* answers that left after processing_timeout */
	uint64_t lost;           /* decisions whose answer could not be written at all */
	uint64_t late_untracked; /* stuck answers whose ids were not kept: too many */
	uint64_t bytes_in, bytes_out;
};

struct spop_server_options spop_server_options_default(void);

/* context and loop must outlive it. NULL when out of memory. */
MUST_CHECK struct spop_server *spop_server_new(struct ev_loop *loop,
                                               const struct spop_server_options *options,
                                               struct message_context *context);
/* Closes all at once and removes the files of its unix sockets. Accepts NULL. */
void spop_server_free(struct spop_server *server);

/* "127.0.0.1:9000", "[::1]:9000", "unix:/path" or "unix@/path", "fd@3" (inherited,
 * listening). A socket file that nobody answers on is replaced. options may be
 * NULL. May be called several times. */
MUST_CHECK bool spop_server_listen(struct spop_server *server, const char *address,
                                   const struct spop_listen_options *options, struct error *error);
/* Port of TCP listener i, for those that asked for port 0; 0 for others. */
uint16_t spop_server_port(const struct spop_server *server, size_t i);

/* Lets health checks fail from now on and does all else as before: HAProxy takes
 * us out of its backend and stops asking. A second or so later drain, and no
 * request has waited for an answer that never comes. */
void spop_server_leave(struct spop_server *server);
/* Accepts no more, answers what is in, and says goodbye to all. It is done when
 * counters.open is 0, at the latest after linger_timeout + write_timeout. */
void spop_server_drain(struct spop_server *server);

/* The operator's options changed: those that can, apply at once. */
void spop_server_set_processing_timeout(struct spop_server *server, usec_t timeout);

const struct spop_server_counters *spop_server_counters(const struct spop_server *server);
