/* input.h - bytes come in, frames are cut off and answered. */
#pragma once

#include <stdbool.h>

#include "policies/core/error.h"

struct connection;

void input_init(struct connection *connection, int fd);
void input_done(struct connection *connection);
/* Listens to the peer, or not: a peer that does not read is not read. */
void input_resume(struct connection *connection);
void input_stop(struct connection *connection);

/* One read, and all that it completes; false if the connection has ended. */
MUST_CHECK bool input_turn(struct connection *connection);
/* Frames that had to wait for room; false if the connection has ended. */
MUST_CHECK bool input_process(struct connection *connection);
