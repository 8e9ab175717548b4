/* runtime.c - connect, write one line, read until HAProxy closes.
 *
 * HAProxy closes by itself after the last command of a line, so the end of the
 * answer is the end of the connection. */
#include "spoa/observe/runtime.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policies/core/bug.h"
#include "spoa/observe/address.h"

enum {
	QUESTION_MAX = 256,
	BUFFER_FIRST = 64 * 1024, /* grows up to answer_max */
	READS_PER_TURN = 16,
};

struct runtime {
	struct ev_loop *loop;
	usec_t (*now)(void);
	struct socket_address address;
	usec_t deadline;
	size_t answer_max;

	bool asking;
	int fd; /* -1: not connected */
	ev_io io;
	ev_timer late;
	usec_t asked_at;
	char question[QUESTION_MAX]; /* with its newline */
	struct span unsent;
	int refused; /* errno of a connection that could not be tried */
	char *buffer;
	size_t used, room;
	void (*on_answer)(void *data, const struct runtime_answer *answer);
	void *data;
};

static void hang_up(struct runtime *runtime)
{
	ev_io_stop(runtime->loop, &runtime->io);
	ev_timer_stop(runtime->loop, &runtime->late);
	if (runtime->fd >= 0)
		(void)close(runtime->fd);
	runtime->fd = -1;
	runtime->asking = false;
}

/* The question is closed before the callback, so that it may ask again. */
static void finish(struct runtime *runtime, enum runtime_status status, const char *error)
{
	struct runtime_answer answer = {
		.status = status,
		.error = error,
		.elapsed = runtime->now() - runtime->asked_at,
	};

	if (status == RUNTIME_OK)
		answer.text = (struct span){ runtime->buffer, runtime->used };
	hang_up(runtime);
	runtime->on_answer(runtime->data, &answer);
}

static void fail(struct runtime *runtime, int number)
{
	bool nobody = number == ECONNREFUSED || number == ENOENT;

	finish(runtime, nobody ? RUNTIME_REFUSED : RUNTIME_FAILED, strerror(number));
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	finish(timer->data, RUNTIME_LATE, "no answer in time");
}

/* False: the question has ended. */
static bool make_room(struct runtime *runtime)
{
	size_t room = runtime->room ? runtime->room * 2 : BUFFER_FIRST;
	char *buffer;

	if (runtime->used < runtime->room)
		return true;
	if (runtime->used >= runtime->answer_max) {
		finish(runtime, RUNTIME_TOO_BIG, "the answer is too big");
		return false;
	}
	room = room > runtime->answer_max ? runtime->answer_max : room;
	buffer = realloc(runtime->buffer, room);
	if (!buffer) {
		fail(runtime, ENOMEM);
		return false;
	}
	runtime->buffer = buffer;
	runtime->room = room;
	return true;
}

static void read_some(struct runtime *runtime)
{
	for (int i = 0; i < READS_PER_TURN; i++) {
		ssize_t got;

		if (!make_room(runtime))
			return;
		got = read(runtime->fd, runtime->buffer + runtime->used,
		           runtime->room - runtime->used);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got < 0) {
			fail(runtime, errno);
			return;
		}
		if (got == 0 && runtime->used == 0) {
			finish(runtime, RUNTIME_FAILED, "closed without an answer");
			return;
		}
		if (got == 0) {
			finish(runtime, RUNTIME_OK, NULL);
			return;
		}
		runtime->used += (size_t)got;
	}
}

static void write_some(struct runtime *runtime)
{
	ssize_t sent = send(runtime->fd, runtime->unsent.at, runtime->unsent.len, MSG_NOSIGNAL);

	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (sent < 0) {
		fail(runtime, errno);
		return;
	}
	runtime->unsent.at += sent;
	runtime->unsent.len -= (size_t)sent;
	if (runtime->unsent.len > 0)
		return;
	ev_io_stop(runtime->loop, &runtime->io);
	ev_io_set(&runtime->io, runtime->fd, EV_READ);
	ev_io_start(runtime->loop, &runtime->io);
}

static void on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct runtime *runtime = io->data;
	int number = 0;
	socklen_t size = sizeof(number);

	(void)loop;
	if (events & EV_READ) {
		read_some(runtime);
		return;
	}
	if (getsockopt(runtime->fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0)
		number = errno;
	if (number != 0)
		fail(runtime, number);
	else
		write_some(runtime);
}

/* A connection that cannot even be tried is told from the loop as well: the
 * caller hears of it once, and never inside his own call. */
static void on_refused(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct runtime *runtime = timer->data;

	(void)loop;
	(void)events;
	fail(runtime, runtime->refused);
}

static bool try_to_connect(struct runtime *runtime)
{
	const struct sockaddr *address = (const struct sockaddr *)&runtime->address.storage;

	runtime->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return runtime->fd >= 0 && (connect(runtime->fd, address, runtime->address.length) == 0 ||
	                            errno == EINPROGRESS);
}

bool runtime_ask(struct runtime *runtime, const char *commands,
                 void (*on_answer)(void *data, const struct runtime_answer *answer), void *data)
{
	size_t length = strlen(commands);

	BUG_ON(length + 1 > sizeof(runtime->question));
	if (runtime->asking)
		return false;
	runtime->asking = true;
	memcpy(runtime->question, commands, length);
	runtime->question[length] = '\n';
	runtime->unsent = (struct span){ runtime->question, length + 1 };
	runtime->used = 0;
	runtime->on_answer = on_answer;
	runtime->data = data;
	runtime->asked_at = runtime->now();
	if (try_to_connect(runtime)) {
		ev_io_set(&runtime->io, runtime->fd, EV_WRITE);
		ev_io_start(runtime->loop, &runtime->io);
		ev_timer_init(&runtime->late, on_late, (double)runtime->deadline / 1e6, 0);
	} else {
		runtime->refused = errno;
		ev_timer_init(&runtime->late, on_refused, 0, 0);
	}
	ev_timer_start(runtime->loop, &runtime->late);
	return true;
}

bool runtime_asking(const struct runtime *runtime)
{
	return runtime->asking;
}

struct runtime *runtime_new(const struct observe *observe, const struct runtime_options *options,
                            struct error *error)
{
	struct runtime *runtime = calloc(1, sizeof(*runtime));

	if (!runtime) {
		(void)error_set(error, "out of memory");
		return NULL;
	}
	if (!address_read(options->address, &runtime->address, error)) {
		free(runtime);
		return NULL;
	}
	runtime->loop = observe->loop;
	runtime->now = observe->now;
	runtime->deadline = options->deadline;
	runtime->answer_max = options->answer_max;
	runtime->fd = -1;
	ev_init(&runtime->io, on_ready);
	ev_init(&runtime->late, on_late);
	runtime->io.data = runtime;
	runtime->late.data = runtime;
	return runtime;
}

void runtime_free(struct runtime *runtime)
{
	if (!runtime)
		return;
	hang_up(runtime);
	free(runtime->buffer);
	free(runtime);
}
