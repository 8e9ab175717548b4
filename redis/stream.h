/* stream.h - a socket that never blocks, plain or with TLS: connect, read, write. */
#pragma once

#include "redis/resolve.h"
#include "redis/results.h"
#include "redis/tls.h"

struct redis_stream {
	int fd; /* -1: closed */
	bool open;
	bool wants_write; /* TLS must write before it can read on */
	struct redis_tls_session *session;
	enum redis_fault fault; /* after GONE: why */
	const char *problem;    /* and in words; good until the stream is closed */
};

enum redis_stream_step {
	REDIS_STREAM_DONE,
	REDIS_STREAM_WAIT, /* for events of the socket, see redis_stream_events() */
	REDIS_STREAM_GONE,
};

/* On a closed one; WAIT or GONE. */
enum redis_stream_step redis_stream_connect(struct redis_stream *stream,
                                            const struct redis_address *address);
/* When the socket is ready while it is not open yet. DONE: it is open. tls may be NULL. */
enum redis_stream_step redis_stream_go_on(struct redis_stream *stream, struct redis_tls *tls,
                                          const char *host);
/* DONE: at least one byte. */
enum redis_stream_step redis_stream_read(struct redis_stream *stream, char *bytes, size_t room,
                                         size_t *ret_len);
enum redis_stream_step redis_stream_write(struct redis_stream *stream, struct span bytes,
                                          size_t *ret_len);
/* There are bytes that no event will tell of. */
bool redis_stream_has_more(const struct redis_stream *stream);
void redis_stream_close(struct redis_stream *stream);
