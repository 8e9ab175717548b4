/* fetch.h - HTTP requests of our own, on the loop (libcurl).
 *
 * Each has a deadline and a largest answer; all together are bounded. No proxy of
 * the environment is used, no redirect followed, no other protocol spoken. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ev_loop;
struct fetch;
struct fetch_transfer;

/* All is copied. */
struct fetch_request {
	const char *url;
	const char *unix_socket;    /* path to connect to instead of the URL's host; NULL: none */
	const char *body;           /* POST; NULL: GET */
	size_t body_bytes;          /* of it */
	const char *const *headers; /* "name: value", ends in NULL; NULL: none */
	uint32_t deadline_ms;       /* for all of it, > 0 */
	size_t answer_max;          /* bytes of body */
	/* Hands out each piece of the body as it comes in, and keeps none. From inside the
	 * library: it must not start or cancel. NULL: the body is kept for on_done. */
	void (*on_piece)(void *data, const char *bytes, size_t count);
};

struct fetch_result {
	int status;       /* of HTTP; 0: no whole answer, and error says why */
	const char *body; /* good for the length of the callback; does not end in NUL; NULL
	                   * when pieces were handed out */
	size_t body_bytes;
	const char *error; /* NULL when status is set */
	bool late;         /* the deadline passed */
	uint64_t elapsed_us;
};

/* most: transfers at once. NULL when out of memory. */
struct fetch *fetch_new(struct ev_loop *loop, uint32_t most);
/* Gives up all transfers without calling back. */
void fetch_free(struct fetch *fetch);

/* Calls on_done once, from the loop, never from inside this call; then the
 * transfer is gone. on_done may start and cancel others. NULL: as many as may be
 * are open, or out of memory; try again later. */
struct fetch_transfer *fetch_start(struct fetch *fetch, const struct fetch_request *request,
                                   void (*on_done)(void *data, const struct fetch_result *result),
                                   void *data);
/* Gives it up without calling back. */
void fetch_cancel(struct fetch_transfer *transfer);
/* Open now. */
uint32_t fetch_open(const struct fetch *fetch);
