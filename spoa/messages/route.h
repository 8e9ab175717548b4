/* route.h - infer-route: arguments become a request, a decision becomes variables. */
#pragma once

#include "spoa/messages/messages.h"
#include "spoa/spop/ack.h"
#include "spoa/spop/notify.h"

enum { TENANT_TEXT_BYTES = 16 };

/* A request as decoded; it points into the frame and into itself, so it stays
 * where it is. */
struct route {
	struct request request;
	char tenant[TENANT_TEXT_BYTES]; /* of a tenant that came as a number */
};

/* Reads just this many arguments and moves in behind them. Any of them may be
 * missing, NULL or of another type: it is counted, and as good as not sent. */
MUST_CHECK enum spop_error route_read(struct message_context *context, struct spop_input *in,
                                      uint32_t arguments, struct route *ret_route);

/* Decides and writes the answer; out must have MESSAGES_ANSWER_MAX bytes. Id of
 * the request if a slot was taken that must not outlive an answer that is late;
 * at NULL otherwise. */
struct span route_run(struct message_context *context, const struct route *route,
                      struct spop_output *out);
