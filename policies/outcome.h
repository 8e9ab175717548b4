/* outcome.h - how a stream ended, and what that says of the server. Pure. */
#pragma once

#include "policies/core/policy.h"
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
/* ... before it got anything of the answer. HAProxy counts bytes all the same: it has an
 * error page of its own ready for whoever is not there any more. */
bool outcome_is_early_abort(const struct stream_end *end);

/* What the operator's list makes of this end; of a class that is nobody's fault,
 * nothing else than its class. */
enum judged outcome_judge(const struct stream_end *end, const struct eject_on *on);
/* Of a status alone, when a server said it and HAProxy went on to another. */
enum outcome_class outcome_class_of_status(int status);
enum judged outcome_judge_status(int status, const struct eject_on *on);
/* Of an attempt that HAProxy made again, and of which nothing else is known. */
enum judged outcome_judge_retry(const struct eject_on *on);
