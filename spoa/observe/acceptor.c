/* acceptor.c - accept4() in batches.
 *
 * When there are no descriptors left the connection stays in the kernel's queue, and the loop
 * would be woken for it without end: so nothing is asked for a while. */
#include "spoa/observe/acceptor.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPTS_PER_TURN = 32 };

static const double pause_seconds = 0.1;

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct acceptor *acceptor = timer->data;

	(void)events;
	ev_timer_stop(loop, timer);
	ev_io_start(loop, &acceptor->io);
}

static void on_connections(struct ev_loop *loop, ev_io *io, int events)
{
	struct acceptor *acceptor = io->data;

	(void)events;
	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			acceptor->take(acceptor->data, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return;
		acceptor->failures++;
		ev_io_stop(loop, io);
		ev_timer_start(loop, &acceptor->pause);
		return;
	}
}

void acceptor_start(struct acceptor *acceptor, struct ev_loop *loop, int fd,
                    void (*take)(void *data, int fd), void *data)
{
	acceptor->loop = loop;
	acceptor->take = take;
	acceptor->data = data;
	acceptor->failures = 0;
	ev_io_init(&acceptor->io, on_connections, fd, EV_READ);
	ev_timer_init(&acceptor->pause, on_pause_over, pause_seconds, pause_seconds);
	acceptor->io.data = acceptor->pause.data = acceptor;
	ev_io_start(loop, &acceptor->io);
}

void acceptor_stop(struct acceptor *acceptor)
{
	if (acceptor->io.fd < 0)
		return;
	ev_io_stop(acceptor->loop, &acceptor->io);
	ev_timer_stop(acceptor->loop, &acceptor->pause);
	(void)close(acceptor->io.fd);
	acceptor->io.fd = -1;
}
