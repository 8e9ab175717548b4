/* log_receiver.h - takes HAProxy's log lines from UDP, TCP and unix datagrams.
 *
 * The same line may come twice, once over UDP and once through a ring; whoever
 * reads the lines tells by the id. A line is handed out without its newline and
 * is good for the length of the callback. */
#pragma once

#include "spoa/observe/observe.h"

struct log_receiver;

struct log_receiver_counts {
	uint64_t datagrams;    /* lines by UDP and unix datagram */
	uint64_t stream_lines; /* lines by TCP */
	uint64_t kernel_drops; /* datagrams the kernel had no room for */
	uint64_t cut;          /* ends of a connection in the middle of a line: dropped */
	uint64_t too_long;     /* beyond 4096 bytes: dropped */
	uint64_t connections_total;
	uint64_t connections_refused; /* too many at once */
	uint32_t connections;         /* open now */
};

/* on_line must not free the receiver. NULL when out of memory. */
MUST_CHECK struct log_receiver *log_receiver_new(const struct observe *observe,
                                                 void (*on_line)(void *data, struct span line),
                                                 void *data);
void log_receiver_free(struct log_receiver *receiver);

/* "udp:IP:PORT", "tcp:IP:PORT", "unix-dgram:PATH"; "IP:PORT" is both of the first
 * under one number. IPv6 in brackets. "fd@N" is an open socket, of datagrams or
 * listening, whose file is not ours to remove. May be called several times. False: nothing
 * of this address listens. */
MUST_CHECK bool log_receiver_listen(struct log_receiver *receiver, const char *address,
                                    struct error *error);

struct log_receiver_counts log_receiver_counts(const struct log_receiver *receiver);
/* Port of the first address that has one (useful with port 0); 0: none. */
uint16_t log_receiver_port(const struct log_receiver *receiver);
