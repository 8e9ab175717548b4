/* tls.h - TLS over a connected socket that never blocks; the other side's name is checked.
 *
 * By OpenSSL itself. hiredis has TLS from 1.0 on only, and there it checks whose
 * certificate it is but not what name it is for: anybody's of the same authority would do.
 * OpenSSL writes without MSG_NOSIGNAL: the process must ignore SIGPIPE. */
#pragma once

#include <sys/types.h>

#include "redis/link.h"

struct redis_tls;         /* what is the same for all connections */
struct redis_tls_session; /* a connection's */

enum redis_tls_wants {
	REDIS_TLS_DONE,
	REDIS_TLS_READABLE, /* again when the socket is readable */
	REDIS_TLS_WRITABLE,
	REDIS_TLS_CLOSED, /* by the other side, in order */
	REDIS_TLS_FAILED,
};

bool redis_tls_built_in(void);

/* Reads the files. NULL, and why. */
MUST_CHECK struct redis_tls *redis_tls_new(const struct redis_tls_options *options,
                                           struct error *error);
void redis_tls_free(struct redis_tls *tls);

/* The socket stays the caller's. Host is the name, or the address, that the certificate must
 * be for. NULL: out of memory. */
struct redis_tls_session *redis_tls_begin(struct redis_tls *tls, int fd, const char *host);
void redis_tls_end(struct redis_tls_session *session);

enum redis_tls_wants redis_tls_shake(struct redis_tls_session *session);
/* DONE: ret_len bytes, at least one. */
enum redis_tls_wants redis_tls_read(struct redis_tls_session *session, char *bytes, size_t room,
                                    size_t *ret_len);
enum redis_tls_wants redis_tls_write(struct redis_tls_session *session, const char *bytes,
                                     size_t len, size_t *ret_len);
/* Bytes lie ready that no readable socket will tell of. */
bool redis_tls_has_more(const struct redis_tls_session *session);
/* After FAILED: why, in words. */
const char *redis_tls_problem(const struct redis_tls_session *session);
