/* ack.h - an ACK's payload: actions, each sets or unsets one variable.
 *
 * To answer: frame_begin() with the NOTIFY's two ids, at least one action (an
 * ACK without any is lost by HAProxy 3.1.0 to 3.1.4), frame_end(). */
#pragma once

#include "spoa/spop/frame.h"

enum ack_scope {
	ACK_SCOPE_PROCESS = 0,
	ACK_SCOPE_SESSION = 1,
	ACK_SCOPE_TRANSACTION = 2,
	ACK_SCOPE_REQUEST = 3,
	ACK_SCOPE_RESPONSE = 4,
};

/* value must not be NULL-typed: HAProxy keeps undefined data then. Unset instead. */
SPOP_CHECK bool ack_set(struct spop_output *out, enum ack_scope scope, const char *name,
                        const struct spop_value *value);
SPOP_CHECK bool ack_unset(struct spop_output *out, enum ack_scope scope, const char *name);

/* HAProxy's side. */
struct ack_action {
	bool set; /* false: unset, no value */
	enum ack_scope scope;
	struct spop_text name;
	struct spop_value value;
};

SPOP_CHECK enum spop_error ack_read(struct spop_input *in, struct ack_action *ret_action);
