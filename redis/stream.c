/* stream.c - what the kernel and OpenSSL say, in one set of words. */
#include "redis/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

static enum redis_stream_step gone(struct redis_stream *stream, enum redis_fault fault,
                                   const char *problem)
{
	stream->fault = fault;
	stream->problem = problem;
	return REDIS_STREAM_GONE;
}

static enum redis_stream_step gone_by_errno(struct redis_stream *stream, int number)
{
	bool nobody = number == ECONNREFUSED || number == ENOENT;
	enum redis_fault fault = stream->open ? REDIS_FAULT_RESET
	                         : nobody     ? REDIS_FAULT_REFUSED
	                                      : REDIS_FAULT_UNREACHABLE;

	return gone(stream, fault, strerrordesc_np(number));
}

enum redis_stream_step redis_stream_connect(struct redis_stream *stream,
                                            const struct redis_address *address)
{
	const struct sockaddr *name = (const struct sockaddr *)&address->storage;
	const int on = 1;

	stream->fd = socket(name->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (stream->fd < 0)
		return gone_by_errno(stream, errno);
	if (name->sa_family != AF_UNIX)
		(void)setsockopt(stream->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(stream->fd, name, address->length) != 0 && errno != EINPROGRESS)
		return gone_by_errno(stream, errno);
	return REDIS_STREAM_WAIT;
}

static enum redis_stream_step open_now(struct redis_stream *stream)
{
	stream->open = true;
	stream->wants_write = false;
	return REDIS_STREAM_DONE;
}

static enum redis_stream_step shake(struct redis_stream *stream)
{
	enum redis_tls_wants wants = redis_tls_shake(stream->session);

	stream->wants_write = wants == REDIS_TLS_WRITABLE;
	switch (wants) {
	case REDIS_TLS_DONE:
		return open_now(stream);
	case REDIS_TLS_READABLE:
	case REDIS_TLS_WRITABLE:
		return REDIS_STREAM_WAIT;
	case REDIS_TLS_CLOSED:
		return gone(stream, REDIS_FAULT_TLS, "closed during the handshake");
	case REDIS_TLS_FAILED:
		break;
	}
	return gone(stream, REDIS_FAULT_TLS, redis_tls_problem(stream->session));
}

enum redis_stream_step redis_stream_go_on(struct redis_stream *stream, struct redis_tls *tls,
                                          const char *host)
{
	int number = 0;
	socklen_t size = sizeof(number);

	if (stream->session)
		return shake(stream);
	if (getsockopt(stream->fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0)
		number = errno;
	if (number != 0)
		return gone_by_errno(stream, number);
	if (!tls)
		return open_now(stream);
	stream->session = redis_tls_begin(tls, stream->fd, host);
	if (!stream->session)
		return gone(stream, REDIS_FAULT_MEMORY, "out of memory");
	return shake(stream);
}

/* Of a read or a write; a session may want the other direction for either. */
static enum redis_stream_step judge(struct redis_stream *stream, enum redis_tls_wants wants)
{
	switch (wants) {
	case REDIS_TLS_DONE:
		return REDIS_STREAM_DONE;
	case REDIS_TLS_READABLE:
		return REDIS_STREAM_WAIT;
	case REDIS_TLS_WRITABLE:
		stream->wants_write = true;
		return REDIS_STREAM_WAIT;
	case REDIS_TLS_CLOSED:
		return gone(stream, REDIS_FAULT_CLOSED, "closed by the store");
	case REDIS_TLS_FAILED:
		break;
	}
	return gone(stream, REDIS_FAULT_RESET, redis_tls_problem(stream->session));
}

enum redis_stream_step redis_stream_read(struct redis_stream *stream, char *bytes, size_t room,
                                         size_t *ret_len)
{
	ssize_t got;

	if (stream->session) {
		stream->wants_write = false;
		return judge(stream, redis_tls_read(stream->session, bytes, room, ret_len));
	}
	got = recv(stream->fd, bytes, room, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return REDIS_STREAM_WAIT;
	if (got < 0)
		return gone_by_errno(stream, errno);
	if (got == 0)
		return gone(stream, REDIS_FAULT_CLOSED, "closed by the store");
	*ret_len = (size_t)got;
	return REDIS_STREAM_DONE;
}

enum redis_stream_step redis_stream_write(struct redis_stream *stream, struct span bytes,
                                          size_t *ret_len)
{
	ssize_t sent;

	if (stream->session)
		return judge(stream,
		             redis_tls_write(stream->session, bytes.at, bytes.len, ret_len));
	sent = send(stream->fd, bytes.at, bytes.len, MSG_NOSIGNAL);
	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		return REDIS_STREAM_WAIT;
	if (sent < 0)
		return gone_by_errno(stream, errno);
	*ret_len = (size_t)sent;
	return REDIS_STREAM_DONE;
}

bool redis_stream_has_more(const struct redis_stream *stream)
{
	return stream->session && redis_tls_has_more(stream->session);
}

void redis_stream_close(struct redis_stream *stream)
{
	redis_tls_end(stream->session);
	if (stream->fd >= 0)
		(void)close(stream->fd);
	*stream = (struct redis_stream){ .fd = -1 };
}
