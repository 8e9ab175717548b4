/* agent_check.c - the sockets of HAProxy's agent-check.
 *
 * HAProxy sends its line at once and closes when it has read the answer. Whoever sends no
 * line within a second, or one that is too long, is closed without one: to HAProxy that
 * means nothing, and what it was told last stays. */
#include "spoa/observe/agent_check.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spoa/observe/acceptor.h"
#include "spoa/observe/log_socket.h"

enum { LISTENERS_MAX = 8 };

static const double look_seconds = 0.25;
static const usec_t patience = 1 * SECOND;

struct client {
	struct agent_check *check;
	ev_io io; /* fd -1 when free */
	usec_t since;
	size_t used;
	char line[AGENT_CHECK_LINE_MAX];
};

struct agent_check {
	struct observe observe;
	struct server_weights *weights;
	struct agent_check_counts counts;
	struct acceptor listeners[LISTENERS_MAX];
	ev_timer look; /* runs while there are clients */
	uint32_t open;
	struct client clients[AGENT_CHECK_CLIENTS_MAX];
};

static void leave(struct client *client)
{
	struct agent_check *check = client->check;

	ev_io_stop(check->observe.loop, &client->io);
	(void)close(client->io.fd);
	client->io.fd = -1;
	if (--check->open == 0)
		ev_timer_stop(check->observe.loop, &check->look);
}

static void drop(struct client *client)
{
	client->check->counts.dropped++;
	leave(client);
}

static void answer(struct client *client, size_t length)
{
	struct agent_check *check = client->check;
	char text[SERVER_WEIGHT_ANSWER_MAX];
	size_t size;

	if (length > 0 && client->line[length - 1] == '\r')
		length--;
	switch (server_weight_answer(check->weights, check->observe.facts,
	                             (struct span){ client->line, length }, check->observe.now(),
	                             text, &size)) {
	case SERVER_ANSWERED:
		check->counts.answered++;
		break;
	case SERVER_DRAINED:
		check->counts.drained++;
		break;
	case SERVER_UNKNOWN:
		check->counts.unknown++;
		break;
	}
	/* A new connection's buffer has room for it; who is gone does not want it. */
	(void)!send(client->io.fd, text, size, MSG_NOSIGNAL);
	leave(client);
}

static void on_bytes(struct ev_loop *loop, ev_io *io, int events)
{
	struct client *client = io->data;
	ssize_t got =
	        recv(io->fd, client->line + client->used, sizeof(client->line) - client->used, 0);
	const char *end;

	(void)loop;
	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		drop(client);
		return;
	}
	end = memchr(client->line + client->used, '\n', (size_t)got);
	client->used += (size_t)got;
	if (end)
		answer(client, (size_t)(end - client->line));
	else if (client->used == sizeof(client->line))
		drop(client);
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct agent_check *check = timer->data;
	usec_t now = check->observe.now();

	(void)loop;
	(void)events;
	for (size_t i = 0; i < AGENT_CHECK_CLIENTS_MAX; i++) {
		struct client *client = &check->clients[i];

		if (client->io.fd >= 0 && now >= client->since + patience)
			drop(client);
	}
}

static void take(void *data, int fd)
{
	struct agent_check *check = data;
	struct client *client = check->clients;

	while (client < check->clients + AGENT_CHECK_CLIENTS_MAX && client->io.fd >= 0)
		client++;
	if (client == check->clients + AGENT_CHECK_CLIENTS_MAX) {
		check->counts.refused++;
		(void)close(fd);
		return;
	}
	client->used = 0;
	client->since = check->observe.now();
	ev_io_init(&client->io, on_bytes, fd, EV_READ);
	client->io.data = client;
	ev_io_start(check->observe.loop, &client->io);
	if (check->open++ == 0)
		ev_timer_again(check->observe.loop, &check->look);
}

struct agent_check *agent_check_new(const struct observe *observe)
{
	struct agent_check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->observe = *observe;
	check->weights = server_weights_new(fleet_targets_max(observe->facts->fleet));
	if (!check->weights) {
		free(check);
		return NULL;
	}
	for (size_t i = 0; i < LISTENERS_MAX; i++)
		check->listeners[i].io.fd = -1;
	for (size_t i = 0; i < AGENT_CHECK_CLIENTS_MAX; i++) {
		check->clients[i].check = check;
		check->clients[i].io.fd = -1;
	}
	ev_init(&check->look, on_look);
	check->look.repeat = look_seconds;
	check->look.data = check;
	return check;
}

void agent_check_free(struct agent_check *check)
{
	if (!check)
		return;
	for (size_t i = 0; i < AGENT_CHECK_CLIENTS_MAX; i++)
		if (check->clients[i].io.fd >= 0)
			leave(&check->clients[i]);
	for (size_t i = 0; i < LISTENERS_MAX; i++)
		acceptor_stop(&check->listeners[i]);
	server_weights_free(check->weights);
	free(check);
}

bool agent_check_listen(struct agent_check *check, const char *text, struct error *error)
{
	struct socket_address address;
	size_t i = 0;
	int fd = -1;

	while (i < LISTENERS_MAX && check->listeners[i].io.fd >= 0)
		i++;
	if (i == LISTENERS_MAX)
		return error_set(error, "%s: more than %d addresses", text, LISTENERS_MAX);
	if (!address_ip(text, &address, error) ||
	    !log_socket_open(SOCK_STREAM, &address, text, &fd, error))
		return false;
	acceptor_start(&check->listeners[i], check->observe.loop, fd, take, check);
	return true;
}

uint16_t agent_check_port(const struct agent_check *check)
{
	return check->listeners[0].io.fd >= 0 ? log_socket_port(check->listeners[0].io.fd) : 0;
}

struct agent_check_counts agent_check_counts(const struct agent_check *check)
{
	return check->counts;
}

const struct server_weights *agent_check_weights(const struct agent_check *check)
{
	return check->weights;
}
