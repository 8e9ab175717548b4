/* client_retry.h - who served a request that is tried again.
 *
 * A client that got no good answer sends the same once more, and says so. What
 * came to no good end is remembered for a minute by its caller and prompt; else
 * the session's pin tells who served it last. */
#pragma once

#include "policies/core/route.h"
#include "policies/state/facts.h"

/* Target of the previous try; TARGET_NONE if this is the first, or nothing is known. */
uint32_t client_retry_previous(const struct facts *facts, const struct request *request,
                               const struct prompt *prompt, uint32_t model, usec_t now);

/* This request came to no good end at the target. */
void client_retry_note(struct facts *facts, const struct flight *flight, uint32_t target,
                       usec_t now);
