/* response.h - infer-first: who really serves, told at the first byte. */
#pragma once

#include "policies/core/target.h"
#include "spoa/messages/messages.h"
#include "spoa/spop/ack.h"
#include "spoa/spop/notify.h"

/* As decoded; it points into the frame and into itself, so it stays where it is. */
struct response {
	struct first_byte event;
	char address[ADDRESS_MAX_BYTES];
};

/* Reads just this many arguments and moves in behind them; what is missing or of
 * another type is as good as not sent. */
MUST_CHECK enum spop_error response_read(struct message_context *context, struct spop_input *in,
                                         uint32_t arguments, struct response *ret_response);
/* Tells the feedback. True if it wrote an answer: the session id of who serves, where
 * the decision named another. */
bool response_run(struct message_context *context, const struct response *response,
                  struct spop_output *out);
