/* datagrams.c - a socket's datagrams as lines, many a system call. */
#include "spoa/observe/datagrams.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "spoa/observe/lines.h"

enum {
	BATCH = 64, /* datagrams a system call */
	BATCHES_PER_TURN = 4,
};

struct control {
	_Alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(uint32_t))];
};

struct datagrams {
	struct mmsghdr messages[BATCH];
	struct iovec parts[BATCH];
	struct control controls[BATCH];
	char buffers[BATCH][LINE_MAX_BYTES];
};

/* The kernel changes what it fills. */
static void prepare(struct datagrams *datagrams, int count)
{
	for (int i = 0; i < count; i++) {
		datagrams->messages[i].msg_hdr.msg_controllen =
		        sizeof(datagrams->controls[i].bytes);
		datagrams->messages[i].msg_hdr.msg_flags = 0;
	}
}

struct datagrams *datagrams_new(void)
{
	struct datagrams *datagrams = calloc(1, sizeof(*datagrams));

	if (!datagrams)
		return NULL;
	for (int i = 0; i < BATCH; i++) {
		datagrams->parts[i] = (struct iovec){ datagrams->buffers[i], LINE_MAX_BYTES };
		datagrams->messages[i].msg_hdr = (struct msghdr){
			.msg_iov = &datagrams->parts[i],
			.msg_iovlen = 1,
			.msg_control = datagrams->controls[i].bytes,
		};
	}
	prepare(datagrams, BATCH);
	return datagrams;
}

void datagrams_free(struct datagrams *datagrams)
{
	free(datagrams);
}

/* The kernel's count of what it dropped comes with each datagram. */
static void read_drops(struct msghdr *message, struct datagrams_read *ret_read)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_RXQ_OVFL)
			continue;
		memcpy(&ret_read->drops, CMSG_DATA(part), sizeof(ret_read->drops));
		ret_read->drops_known = true;
	}
}

static struct span trimmed(const char *at, size_t len)
{
	while (len > 0 && (at[len - 1] == '\n' || at[len - 1] == '\r' || at[len - 1] == 0))
		len--;
	return (struct span){ at, len };
}

struct datagrams_read datagrams_read(struct datagrams *datagrams, int fd,
                                     void (*on_line)(void *data, struct span line), void *data)
{
	struct datagrams_read read = { 0 };
	int got = BATCH;

	for (int turn = 0; turn < BATCHES_PER_TURN && got == BATCH; turn++) {
		got = recvmmsg(fd, datagrams->messages, BATCH, MSG_DONTWAIT, NULL);
		for (int i = 0; i < got; i++) {
			struct mmsghdr *message = &datagrams->messages[i];

			read.any = true;
			read_drops(&message->msg_hdr, &read);
			if (message->msg_hdr.msg_flags & MSG_TRUNC)
				read.too_long++;
			else
				on_line(data, trimmed(datagrams->buffers[i], message->msg_len));
		}
		if (got > 0)
			prepare(datagrams, got);
	}
	return read;
}
