/* probe.h - asks replicas that are out of service whether they are well.
 *
 * Healthy ones get nothing. Who answers in order some times in a row gets requests
 * on trial (policies/ejection.h). Path, interval and timeout are the policy's; the
 * path is the engine's own where the policy names none. */
#pragma once

#include "spoa/observe/rounds.h"
#include "spoa/observe/scraper.h"

struct probe;

/* scraper: knows the kind of an engine; it must outlive this. NULL when out of
 * memory. */
MUST_CHECK struct probe *probe_new(const struct observe *observe, struct fetch *fetch,
                                   const struct scraper *scraper, uint64_t seed);
void probe_free(struct probe *probe);
void probe_start(struct probe *probe);
void probe_stop(struct probe *probe);
/* The policy of the facts is another. */
void probe_set_policy(struct probe *probe);
