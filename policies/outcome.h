/* outcome.h - how a stream ended, and what that says of the server (strategies.md
 * 3.7; the table of haproxy.md 2.6). Pure. */
#pragma once

#include "policies/feedback.h"

bool outcome_is_success(int status); /* 2xx */
bool outcome_is_answer(int status);  /* 2xx, 3xx: its times count */
bool outcome_is_complete(const struct stream_end *end);
/* The server refused the connection, or was not there. */
bool outcome_is_connect_error(const struct stream_end *end);
/* The whole answer came, whatever it says: the server is at work. */
bool outcome_is_heard(const struct stream_end *end);
/* HAProxy's client left, so no time of this stream means anything. */
bool outcome_is_abort(const struct stream_end *end);
