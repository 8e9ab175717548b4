/* haproxy_retry.h - what a retry of HAProxy's says of those it was sent to before. */
#pragma once

#include "policies/learn.h"

/* The report of an end about this target; flight: NULL, if we know no more of the request. */
struct report haproxy_retry_report(const struct facts *facts, const struct stream_end *end,
                                   const struct flight *flight, uint32_t target,
                                   enum outcome_class class);

/* Counts a pin that was not kept, and notes what became of the request at the one we chose,
 * and at the first that answered, where those are others than the one that served.
 * chosen, moved, class: of *feedback. */
void haproxy_retry_note(struct facts *facts, const struct stream_end *end,
                        const struct flight *flight, const struct serving *by,
                        const struct feedback *feedback, usec_t now);
