/* link.h - one connection to the store that is kept up, or tried again, and never waited for.
 *
 * The link finds the store (address, unix socket, sentinels, a cluster's redirection),
 * connects, proves who it is, and is up; lost, it tries again after a pause that grows
 * from retry_first to retry_max, with jitter. Names are looked up beside the loop.
 * All of it is RESP2. Commands are pipelined; replies come in order. A command that
 * has no reply by its deadline takes the connection with it: what comes later could
 * not be told apart.
 *
 * All calls and callbacks are of one loop's thread. Nothing here logs. */
#pragma once

#include <ev.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/span.h"
#include "policies/core/time.h"
#include "redis/reply.h"
#include "redis/results.h"
#include "redis/url.h"

struct redis_link;

enum { REDIS_FILE_MAX = 256 /* a path, with its NUL */ };

struct redis_tls_options {
	char ca_file[REDIS_FILE_MAX];   /* "": those the system trusts */
	char cert_file[REDIS_FILE_MAX]; /* ours, if the store asks for one; "": none */
	char key_file[REDIS_FILE_MAX];
};

/* 0 (or "") stands for what is in brackets. */
struct redis_options {
	struct redis_url url;
	char password_file[REDIS_FILE_MAX]; /* read at each connecting, wins over the url's; [none]
	                                     */
	char sentinel_password_file[REDIS_FILE_MAX]; /* the sentinels' own; [none] */
	char client_name[64]; /* CLIENT SETNAME, if the store lets us; [none] */
	struct redis_tls_options tls;
	usec_t connect_deadline; /* for name, connection, TLS and greeting together; [2 s] */
	usec_t retry_first;      /* [100 ms] */
	usec_t retry_max;        /* [10 s] */
	size_t output_max;       /* bytes that wait to be sent; [256 KiB] */
	size_t reply_max;        /* bytes of one reply, laid out; [1 MiB]; taken once, when used */
	unsigned pending_max;    /* commands without a reply; [256] */
	uint64_t seed;           /* of the jitter */
	usec_t (*now)(void);     /* monotonic; must be given */
};

struct redis_down {
	enum redis_fault fault;
	const char *text; /* for the log: what was tried and what came; never a password */
	usec_t retry_in;
};

/* Both may be NULL. They may send commands, but not free the link. */
struct redis_events {
	void *data;
	/* Greeted and ready; address is who it is ("10.0.0.7:6379", "/run/redis.sock"). */
	void (*on_up)(void *data, const char *address);
	/* Once for each attempt that failed, and once when a link that was up is lost; after
	 * the commands under way have got their REDIS_RESULT_LOST. */
	void (*on_down)(void *data, const struct redis_down *down);
};

/* A word of a command that is a literal. */
#define REDIS_WORD(text)                                                                           \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

struct redis_command {
	const struct span *words; /* "XADD", key, …; copied */
	size_t count;             /* 1..REDIS_WORDS_MAX */
	usec_t deadline;          /* from now; for a blocking command longer than it blocks */
	/* Called just once for a command that was taken, and never from inside
	 * redis_link_send(). The reply is NULL for LATE and LOST; it is good for the length of
	 * the call. It may send commands, but not free the link. May be NULL. */
	void (*on_reply)(void *data, enum redis_result result, const struct redis_reply *reply);
	void *data;
};

enum { REDIS_WORDS_MAX = 1024 };

struct redis_counters {
	uint64_t sent, replies;               /* commands, without those of the greeting */
	uint64_t refused;                     /* not taken: down or full */
	uint64_t results[REDIS_RESULT_COUNT]; /* how those that were taken ended */
	uint64_t connects;                    /* tried */
	uint64_t ups;                         /* and came up */
	uint64_t faults[REDIS_FAULT_COUNT];
	uint64_t bytes_in, bytes_out;
};

/* Connects from the next turn of the loop on. The options are copied. NULL: out of memory,
 * or the options cannot be (TLS that was not built in, a file that cannot be read), and why. */
MUST_CHECK struct redis_link *redis_link_new(struct ev_loop *loop,
                                             const struct redis_options *options,
                                             const struct redis_events *events,
                                             struct error *error);
/* Commands under way get no callback any more; nor does anybody else. */
void redis_link_free(struct redis_link *link);

/* Takes the command, or not (false): the link is not up, or the output or the list of
 * those without a reply is full. Nothing waits and nothing is called. */
MUST_CHECK bool redis_link_send(struct redis_link *link, const struct redis_command *command);

bool redis_link_is_up(const struct redis_link *link);
/* Bytes and commands that wait: 0 and 0 when all is answered. */
size_t redis_link_unsent(const struct redis_link *link);
unsigned redis_link_pending(const struct redis_link *link);
/* Who the link is up with, or was last; "" before. */
const char *redis_link_address(const struct redis_link *link);
const struct redis_counters *redis_link_counters(const struct redis_link *link);

/* True where rediss:// can be had. */
bool redis_link_has_tls(void);
