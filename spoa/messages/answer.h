/* answer.h - a decision, as the variables HAProxy acts upon. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/route.h"
#include "spoa/spop/ack.h"

/* Always sets action. With observe it sets nothing else. source: whose names the
 * replica is called by. Out must have MESSAGES_ANSWER_MAX bytes. */
void answer_write(struct spop_output *out, const struct decision *decision, uint32_t source,
                  bool observe);

/* The id by which a client comes back to the replica of this address. */
void answer_write_session(struct spop_output *out, const struct session_policy *policy,
                          const char *address);

/* For a message that asks nothing. An ACK must hold an action, so this takes away
 * retry_after, which only a refused request has, and a refused request has no
 * answer to report; no variable that is in use can be hit. */
void answer_write_nothing(struct spop_output *out);
