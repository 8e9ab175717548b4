/* loop.h - an event loop that runs until something is so, and peers on loopback. */
#pragma once

#include <arpa/inet.h>
#include <ev.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "spoa/observe/observe.h"

static inline usec_t loop_now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (usec_t)time.tv_sec * SECOND + (usec_t)time.tv_nsec / 1000;
}

static inline void loop_wake(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(loop, EVBREAK_ONE);
}

/* Runs the loop until done says so; false after so many seconds. */
static inline bool loop_until(struct ev_loop *loop, bool (*done)(void *data), void *data,
                              double seconds)
{
	usec_t end = loop_now() + (usec_t)(seconds * 1e6);
	ev_timer timer;

	while (!done(data)) {
		if (loop_now() > end)
			return false;
		/* Something may be so without an event: look again soon. */
		ev_timer_init(&timer, loop_wake, 0.01, 0);
		ev_timer_start(loop, &timer);
		(void)ev_run(loop, EVRUN_ONCE);
		ev_timer_stop(loop, &timer);
	}
	return true;
}

static inline bool loop_never(void *data)
{
	(void)data;
	return false;
}

static inline void loop_for(struct ev_loop *loop, double seconds)
{
	(void)loop_until(loop, loop_never, NULL, seconds);
}

/* A listening TCP socket on a free port. */
static inline int loop_listen(uint16_t *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons(*ret_port);
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, 64) != 0 || getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
		perror("loop_listen");
		abort();
	}
	*ret_port = ntohs(address.sin_port);
	return fd;
}

/* A connected TCP or UDP socket to a port of ours. */
static inline int loop_connect(int type, uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		perror("loop_connect");
		abort();
	}
	return fd;
}
