/* acceptor.h - a listening socket whose connections are taken a few at a time. */
#pragma once

#include <stdint.h>

#include <ev.h>

/* In place; fd of io is -1 while it does not listen. */
struct acceptor {
	struct ev_loop *loop;
	ev_io io;
	ev_timer pause;
	void (*take)(void *data, int fd); /* owns it; not blocking, closed on exec */
	void *data;
	uint64_t failures; /* of accept(), each followed by a pause */
};

/* Owns the socket from here on. */
void acceptor_start(struct acceptor *acceptor, struct ev_loop *loop, int fd,
                    void (*take)(void *data, int fd), void *data);
/* Closes it; nothing when it does not listen. */
void acceptor_stop(struct acceptor *acceptor);
