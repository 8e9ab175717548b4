/* connection.h - one connection of HAProxy: born, watched, ended.
 *
 * What may end a connection returns false when it did: it is gone then, and must
 * not be touched again. */
#pragma once

#include <stdbool.h>

#include "policies/core/error.h"
#include "policies/core/time.h"
#include "spoa/spop/errors.h"

struct connection;
struct spop_server;

/* Takes the socket over. It is closed at once when there are too many, or no
 * memory. */
void connection_new(struct spop_server *server, int fd, uint32_t source);

/* At once, without a word. What was decided and not told is undone. */
void connection_close(struct connection *connection);

/* Answers what has come in, then says goodbye; the peer may close first. */
void connection_drain(struct connection *connection);

/* Has it waited too long for anything? */
void connection_check(struct connection *connection, usec_t now);
