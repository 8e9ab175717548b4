/* listen.h - answers HTTP on a few addresses, in the loop's own thread.
 *
 * libmicrohttpd does the parsing; its epoll descriptor and its timeout are two
 * watchers of the loop. Nothing here waits: a handler answers at once, from
 * memory. No TLS; HAProxy stands in front where somebody outside may ask.
 *
 * An address is "127.0.0.1:9901", "[::1]:9901" or "unix:/path". A unix socket is
 * made with the given mode; one that nobody listens on any more is taken over,
 * one that is served is an error. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ev_loop;
struct listener;

enum {
	WEB_ARGUMENTS_MAX = 16, /* of a query; what is beyond is not seen */
	WEB_REASON_MAX = 256,
};

enum web_peer {
	WEB_PEER_UNIX,     /* uid is known */
	WEB_PEER_LOOPBACK, /* 127.0.0.0/8, ::1 */
	WEB_PEER_OTHER,
};

struct web_argument {
	const char *name, *value; /* decoded; value "" where there was no '=' */
};

/* Borrowed; good while the handler runs. */
struct web_request {
	const char *method; /* "GET"; a HEAD comes as GET */
	const char *path;   /* decoded, without the query */
	const char *accept; /* header; "" when there was none */
	struct web_argument arguments[WEB_ARGUMENTS_MAX];
	size_t argument_count;
	const char *body; /* NULL when empty */
	size_t body_len;
	enum web_peer peer;
	uid_t uid; /* WEB_PEER_UNIX only */
};

/* NULL when the query does not have it. */
const char *web_argument_named(const struct web_request *request, const char *name);

struct web_answer {
	unsigned status;
	const char *content_type; /* static text */
	const char *allow;        /* of a 405: static text, "GET"; else NULL */
	char *body;               /* malloced, given to the listener; NULL for none */
	size_t len;
};

/* An application/problem+json of RFC 9457. detail may be NULL. Without memory the
 * answer has no body. */
void web_problem(struct web_answer *ret_answer, unsigned status, const char *title,
                 const char *detail);

struct listen_options {
	const char *const *addresses;
	size_t address_count; /* 1..8 */
	unsigned connections; /* most open ones of each address; more wait in the backlog */
	unsigned timeout;     /* s that a connection may be silent */
	size_t body_max;      /* bytes of a request's body; more is a 413 */
	mode_t mode;          /* of unix sockets, e.g. 0660 */
	/* Fills the answer, which comes zeroed. Must not free the listener. */
	void (*handle)(void *data, const struct web_request *request,
	               struct web_answer *ret_answer);
	void *data;
};

/* NULL, and the reason in ret_reason (WEB_REASON_MAX bytes), when an address
 * cannot be had; then none is left open. The loop must outlive it. */
__attribute__((warn_unused_result)) struct listener *
listen_new(struct ev_loop *loop, const struct listen_options *options, char *ret_reason);

/* Closes all connections, unfinished answers too; removes the unix sockets it made. */
void listen_free(struct listener *listener);

/* Of address number i, in host order; 0 for a unix socket. For ":0". */
uint16_t listen_port(const struct listener *listener, size_t i);
/* Connections open now, over all addresses. */
unsigned listen_connections(const struct listener *listener);
