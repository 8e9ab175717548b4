/* handshake.h - the first frame of a connection. */
#pragma once

#include "policies/core/error.h"
#include "spoa/spop/frame.h"

struct connection;

/* Answers a HAPROXY-HELLO into out. On success the connection is open, or closing
 * if it was only a health check. */
MUST_CHECK enum spop_error handshake(struct connection *connection, const struct frame *frame,
                                     struct spop_output *out);
