/* ejection.h - takes replicas out of service, and looks after those that are.
 *
 * What state/health.h finds reason enough for is done here, but never to more than
 * max-ejected of a pool: if most of them look bad, who looks is the likelier
 * culprit. What is refused is counted. */
#pragma once

#include "policies/state/facts.h"

/* What became of a request at a replica. */
void ejection_note(struct facts *facts, const struct report *report, usec_t now);
/* How a probe of a replica went. Counted by the caller. */
void ejection_probed(struct facts *facts, uint32_t target, bool good, usec_t now);
/* Another agent ejected it, for so long from now on. False: it is out anyhow, or the pool cannot
 * spare it. Neither this nor its end is told to facts->share. */
bool ejection_told(struct facts *facts, uint32_t target, usec_t length, usec_t now);
/* It is well again, says another agent: back into service, if it was out for no other reason than
 * ejection_told(). */
bool ejection_told_over(struct facts *facts, uint32_t target, usec_t now);
/* To be probed: it is ejected or stalled. */
bool ejection_wants_probe(const struct facts *facts, uint32_t target, usec_t now);
/* ... by one token of an answer, not by a page. */
bool ejection_wants_token(const struct facts *facts, uint32_t target);
/* Looks for who is new, and for who lets requests wait in vain. About once a
 * second, and at once when the fleet has changed. */
void ejection_look(struct facts *facts, usec_t now);
