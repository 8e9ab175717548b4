/* notify.h - a NOTIFY's payload: messages, each a name and its arguments.
 *
 * Read a message's head, then just as many arguments as it says, then the next
 * head, until the input is empty. */
#pragma once

#include "spoa/spop/frame.h"

struct notify_message {
	struct spop_text name;
	uint32_t arguments; /* 0..255 */
};

SPOP_CHECK enum spop_error notify_read_message(struct spop_input *in,
                                               struct notify_message *ret_message);
/* One argument: name and value; the same as pair_read(). */
SPOP_CHECK enum spop_error notify_read_argument(struct spop_input *in, struct spop_text *ret_name,
                                                struct spop_value *ret_value);
/* Reads all that is left and keeps nothing: is it well-formed? */
SPOP_CHECK enum spop_error notify_verify(struct spop_input in);

/* HAProxy's side: frame_begin(), then these, then frame_end(). */
SPOP_CHECK bool notify_write_message(struct spop_output *out, const char *name, uint32_t arguments);
