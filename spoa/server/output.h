/* output.h - answers go out: at once, or when the peer reads again. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "spoa/spop/errors.h"

struct connection;

void output_init(struct connection *connection, int fd);

/* So much is waiting for the peer that nothing more is read from it. */
bool output_is_blocked(const struct connection *connection);

/* Writes the first `length` bytes of the server's answers, in one call when nothing
 * waits, and settles the decisions among them. False if the connection has ended. */
MUST_CHECK bool output_flush(struct connection *connection, uint32_t length);

/* Our DISCONNECT, then nothing more. False if the connection has ended at once;
 * either way there is nothing left to do with it. */
bool output_goodbye(struct connection *connection, enum spop_error error);

/* The connection ends: what was decided and cannot be told is undone. */
void output_abandon(struct connection *connection);
