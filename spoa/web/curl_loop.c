/* curl_loop.c - from curl's wishes to libev's watchers, and back. */
#include "spoa/web/curl_loop.h"

#include <stdlib.h>

struct watch { /* one socket of curl's */
	struct curl_loop *curl;
	ev_io io;
};

void curl_loop_act(struct curl_loop *curl)
{
	int running;

	(void)curl_multi_socket_action(curl->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	curl->acted(curl->data);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	curl_loop_act(timer->data);
}

static void on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct watch *watch = io->data;
	struct curl_loop *curl = watch->curl; /* the watch may be gone after the next line */
	int running, what = 0;

	(void)loop;
	what |= events & EV_READ ? CURL_CSELECT_IN : 0;
	what |= events & EV_WRITE ? CURL_CSELECT_OUT : 0;
	(void)curl_multi_socket_action(curl->multi, io->fd, what, &running);
	curl->acted(curl->data);
}

/* Curl: wake me after this long; -1 is never. */
static int on_wish_timer(CURLM *multi, long ms, void *data)
{
	struct curl_loop *curl = data;

	(void)multi;
	ev_timer_stop(curl->loop, &curl->timer);
	if (ms >= 0) {
		ev_timer_set(&curl->timer, (double)ms / 1000, 0);
		ev_timer_start(curl->loop, &curl->timer);
	}
	return 0;
}

static struct watch *watch_new(struct curl_loop *curl, curl_socket_t fd)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->curl = curl;
	ev_init(&watch->io, on_ready);
	watch->io.data = watch;
	(void)curl_multi_assign(curl->multi, fd, watch);
	return watch;
}

/* Curl: tell me when this socket is ready. */
static int on_wish_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *assigned)
{
	struct curl_loop *curl = data;
	struct watch *watch = assigned;
	int events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (watch)
			ev_io_stop(curl->loop, &watch->io);
		(void)curl_multi_assign(curl->multi, fd, NULL);
		free(watch);
		return 0;
	}
	if (!watch)
		watch = watch_new(curl, fd);
	if (!watch)
		return -1;
	events |= what == CURL_POLL_IN || what == CURL_POLL_INOUT ? EV_READ : 0;
	events |= what == CURL_POLL_OUT || what == CURL_POLL_INOUT ? EV_WRITE : 0;
	ev_io_stop(curl->loop, &watch->io);
	ev_io_set(&watch->io, fd, events);
	ev_io_start(curl->loop, &watch->io);
	return 0;
}

bool curl_loop_start(struct curl_loop *curl)
{
	ev_init(&curl->timer, on_timer);
	curl->timer.data = curl;
	return curl_multi_setopt(curl->multi, CURLMOPT_SOCKETFUNCTION, on_wish_socket) ==
	               CURLM_OK &&
	       curl_multi_setopt(curl->multi, CURLMOPT_SOCKETDATA, curl) == CURLM_OK &&
	       curl_multi_setopt(curl->multi, CURLMOPT_TIMERFUNCTION, on_wish_timer) == CURLM_OK &&
	       curl_multi_setopt(curl->multi, CURLMOPT_TIMERDATA, curl) == CURLM_OK;
}

void curl_loop_stop(struct curl_loop *curl)
{
	ev_timer_stop(curl->loop, &curl->timer);
}
