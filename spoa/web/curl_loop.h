/* curl_loop.h - the sockets and the timer that curl waits for, on libev; of fetch.c only.
 *
 * Curl says which sockets it waits for and when it wants to be woken; we say what
 * happened. */
#pragma once

#include <curl/curl.h>
#include <ev.h>
#include <stdbool.h>

struct curl_loop {
	struct ev_loop *loop;
	CURLM *multi;
	ev_timer timer;
	void (*acted)(void *data); /* curl has done something; it has returned */
	void *data;
};

/* multi is the caller's, and goes after curl_loop_stop(). False when curl refuses. */
bool curl_loop_start(struct curl_loop *curl);
void curl_loop_stop(struct curl_loop *curl);
/* As if its time had come. */
void curl_loop_act(struct curl_loop *curl);
