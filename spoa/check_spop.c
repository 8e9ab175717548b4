/* check_spop.c - a HELLO with healthcheck, and the AGENT-HELLO that answers it.
 *
 * It waits: a command has nothing else to do. */
#include "spoa/check_spop.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "spoa/command.h"
#include "spoa/observe/address.h"
#include "spoa/spop/hello.h"

enum { FRAME_MAX = 16384 };

static int unreachable(const char *address, int reason, struct error *error)
{
	(void)error_set(error, "%s: %s", address,
	                reason == EAGAIN || reason == EINPROGRESS ? "no answer in time"
	                : reason == 0                             ? "closed without a word"
	                                                          : strerror(reason));
	return EXIT_UNREACHABLE;
}

/* -1 with errno. */
static int connected(const struct socket_address *to)
{
	const struct timeval limit = { .tv_sec = CHECK_SPOP_DEADLINE_MS / 1000,
		                       .tv_usec = CHECK_SPOP_DEADLINE_MS % 1000 * 1000 };
	int fd = socket(to->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int reason;

	if (fd == -1)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0 &&
	    connect(fd, (const struct sockaddr *)&to->storage, to->length) == 0)
		return fd;
	reason = errno;
	(void)close(fd);
	errno = reason;
	return -1;
}

static bool asked(int fd)
{
	uint8_t bytes[FRAME_SIZE_MIN];
	struct spop_output out = { bytes, bytes + sizeof(bytes) };

	return hello_write(&out, FRAME_MAX, "", true, NULL) &&
	       send(fd, bytes, (size_t)(out.at - bytes), MSG_NOSIGNAL) == out.at - bytes;
}

/* Reads until there is a frame. */
static int answered(int fd, const char *address, struct error *error)
{
	uint8_t bytes[FRAME_MAX];
	size_t have = 0;

	while (have < sizeof(bytes)) {
		ssize_t count = recv(fd, bytes + have, sizeof(bytes) - have, 0);
		struct spop_input stream = { bytes, bytes + have };
		enum spop_error fault = SPOP_NONE;
		struct hello_answer answer;
		struct frame frame;

		if (count <= 0)
			return unreachable(address, count == 0 ? 0 : errno, error);
		have += (size_t)count;
		stream.end = bytes + have;
		if (frame_next(&stream, FRAME_MAX, &frame, &fault)) {
			if (frame.type == FRAME_AGENT_HELLO &&
			    hello_read_answer(frame.payload, &answer) == SPOP_NONE)
				return EXIT_OK;
			(void)error_set(error, "%s: it answers %s", address,
			                frame_type_name(frame.type));
			return EXIT_FAILED;
		}
		if (fault != SPOP_NONE)
			break;
	}
	(void)error_set(error, "%s: what answers is no SPOE agent", address);
	return EXIT_FAILED;
}

int check_spop(const char *address, struct error *error)
{
	struct socket_address to;
	int fd, left;

	if (!address_read(address, &to, error))
		return EXIT_USAGE;
	fd = connected(&to);
	if (fd == -1)
		return unreachable(address, errno, error);
	left = asked(fd) ? answered(fd, address, error) : unreachable(address, errno, error);
	(void)close(fd);
	return left;
}
