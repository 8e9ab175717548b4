/* dispatch.h - a frame goes to those who know what it says. */
#pragma once

#include "spoa/spop/frame.h"

struct connection;

/* Does what the frame says and writes the answer; out must have ANSWER_ROOM bytes.
 * A frame that is wrong is answered with a DISCONNECT. */
void dispatch_frame(struct connection *connection, const struct frame *frame,
                    struct spop_output *out);
/* The bytes are no frame: a DISCONNECT that says why. */
void dispatch_refuse(struct connection *connection, enum spop_error error, struct spop_output *out);
/* A DISCONNECT, and the connection is closing. */
void dispatch_goodbye(struct connection *connection, enum spop_error error,
                      struct spop_output *out);
