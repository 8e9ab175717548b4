/* server.c - listeners, connections, and the sweep that looks at their deadlines. */
#include "spoa/server/server.h"

#include <ev.h>
#include <stdlib.h>

#include "spoa/server/connection.h"
#include "spoa/server/state.h"

enum { SWEEPS_PER_TIMEOUT = 4 };

#define SWEEP_SLOWEST (250 * MSEC)
#define SWEEP_FASTEST (5 * MSEC)

struct spop_server_options spop_server_options_default(void)
{
	return (struct spop_server_options){ .max_connections = 4096,
		                             .max_frame_size = FRAME_SIZE_MAX,
		                             .output_limit = 64 * 1024,
		                             .buffer_limit = 256ULL * 1024 * 1024,
		                             .handshake_timeout = 5 * SECOND,
		                             .frame_timeout = 10 * SECOND,
		                             .write_timeout = 10 * SECOND,
		                             .idle_timeout = 60 * SECOND,
		                             .linger_timeout = 1 * SECOND,
		                             .processing_timeout = 50 * MSEC };
}

/* Often enough for the shortest of the deadlines, not more. */
static usec_t sweep_period(const struct spop_server_options *options)
{
	const usec_t timeouts[] = { options->handshake_timeout, options->frame_timeout,
		                    options->write_timeout, options->idle_timeout,
		                    options->linger_timeout };
	usec_t period = SWEEP_SLOWEST;

	for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++)
		if (timeouts[i] / SWEEPS_PER_TIMEOUT < period)
			period = timeouts[i] / SWEEPS_PER_TIMEOUT;
	return period > SWEEP_FASTEST ? period : SWEEP_FASTEST;
}

static void on_sweep(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct spop_server *server = timer->data;
	usec_t now = server->context->now();
	struct connection *next;

	(void)loop;
	(void)events;
	for (struct connection *at = server->connections; at; at = next) {
		next = at->next;
		connection_check(at, now);
	}
}

struct spop_server *spop_server_new(struct ev_loop *loop, const struct spop_server_options *options,
                                    struct message_context *context)
{
	struct spop_server *server = calloc(1, sizeof(*server));
	ev_tstamp period = (ev_tstamp)sweep_period(options) / 1e6;

	if (!server)
		return NULL;
	if (!late_pool_init(&server->late, LATE_RECORDS)) {
		free(server);
		return NULL;
	}
	server->loop = loop;
	server->options = *options;
	server->context = context;
	notices_init(&server->notices, &options->log);
	ev_timer_init(&server->sweep, on_sweep, period, period);
	server->sweep.data = server;
	ev_timer_start(loop, &server->sweep);
	return server;
}

void spop_server_free(struct spop_server *server)
{
	if (!server)
		return;
	for (size_t i = 0; i < server->listener_count; i++)
		listener_close(&server->listeners[i]);
	while (server->connections)
		connection_close(server->connections);
	ev_timer_stop(server->loop, &server->sweep);
	late_pool_done(&server->late);
	free(server);
}

bool spop_server_listen(struct spop_server *server, const char *address,
                        const struct spop_listen_options *options, struct error *error)
{
	static const struct spop_listen_options defaults;

	if (server->listener_count == LISTENERS_MAX)
		return error_set(error, "%s: more than %d addresses", address, LISTENERS_MAX);
	if (!listener_open(&server->listeners[server->listener_count], server, address,
	                   options ? options : &defaults, error))
		return false;
	server->listener_count++;
	notices_say(&server->notices, NOTICE_OF_LISTENING, server->context->now(),
	            "spop: listening on %s", address);
	return true;
}

uint16_t spop_server_port(const struct spop_server *server, size_t i)
{
	return i < server->listener_count ? listener_port(&server->listeners[i]) : 0;
}

void spop_server_leave(struct spop_server *server)
{
	server->leaving = true;
}

void spop_server_drain(struct spop_server *server)
{
	struct connection *next;

	for (size_t i = 0; i < server->listener_count; i++)
		listener_close(&server->listeners[i]);
	for (struct connection *at = server->connections; at; at = next) {
		next = at->next;
		connection_drain(at);
	}
}

void spop_server_set_processing_timeout(struct spop_server *server, usec_t timeout)
{
	server->options.processing_timeout = timeout;
}

const struct spop_server_counters *spop_server_counters(const struct spop_server *server)
{
	return &server->counters;
}
