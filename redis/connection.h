/* connection.h - one socket to one store: commands out, replies in, deadlines.
 *
 * It is opened and broken many times; its buffers are taken once. Who to connect to,
 * when, and what to say first is link.c's. */
#pragma once

#include "redis/link.h"
#include "redis/resolve.h"

struct redis_connection;
struct redis_tls;

struct redis_connection_options {
	struct ev_loop *loop;
	usec_t (*now)(void);
	size_t output_max, reply_max;
	unsigned pending_max;
	struct redis_tls *tls;           /* borrowed; NULL: none */
	struct redis_counters *counters; /* borrowed: bytes, replies, results */
};

struct redis_connection_events {
	void *data;
	void (*on_open)(void *data);
	/* After the callback of a command that was answered by an error. */
	void (*on_error)(void *data, enum redis_result result, struct span text);
	/* Closed by itself; text says more than the fault. Commands have been told. */
	void (*on_broken)(void *data, enum redis_fault fault, const char *text);
};

/* NULL: out of memory. */
struct redis_connection *redis_connection_new(const struct redis_connection_options *options,
                                              const struct redis_connection_events *events);
void redis_connection_free(struct redis_connection *connection);

/* It must be closed. Calls back once, never from inside this call: open or broken. Host is
 * what a certificate must be for. */
void redis_connection_open(struct redis_connection *connection, const struct redis_address *address,
                           const char *host);
/* Quietly: commands under way are told LOST, nobody else anything. */
void redis_connection_close(struct redis_connection *connection);
/* As if it had broken by itself. */
void redis_connection_break(struct redis_connection *connection, enum redis_fault fault,
                            const char *text);

/* False: not open, or full. */
MUST_CHECK bool redis_connection_send(struct redis_connection *connection,
                                      const struct redis_command *command);
/* From now on replies and results count; before this is the greeting. */
void redis_connection_count(struct redis_connection *connection);
size_t redis_connection_unsent(const struct redis_connection *connection);
unsigned redis_connection_pending(const struct redis_connection *connection);
