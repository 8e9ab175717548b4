/* disconnect.h - the last frame, either way: a code and its words. */
#pragma once

#include "spoa/spop/frame.h"

struct disconnect {
	uint32_t status; /* any number the peer liked */
	struct spop_text message;
};

/* type: FRAME_AGENT_DISCONNECT or FRAME_HAPROXY_DISCONNECT. A whole frame. */
SPOP_CHECK bool disconnect_write(struct spop_output *out, enum frame_type type,
                                 enum spop_error status);
SPOP_CHECK enum spop_error disconnect_read(struct spop_input payload,
                                           struct disconnect *ret_disconnect);
