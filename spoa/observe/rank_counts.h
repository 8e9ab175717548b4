/* rank_counts.h - what HAProxy counts for a server, shared out to the ranks of its engine. */
#pragma once

#include <stdint.h>

/* ours: requests that we sent to each rank, which HAProxy sees; counted: what it counts for
 * all of them. Each rank gets what is ours and, of what is more than that, an equal part;
 * of what is less each gives an equal part, as far as it has one. ret_counted sums up to
 * counted. */
void rank_counts(const uint32_t *ours, uint32_t ranks, uint32_t counted, uint32_t *ret_counted);
