/* pulse.h - what is true now, gathered for a batch: loads, use of limits, averages.
 *
 * Loads that are not as they were told last, and what was used of limits, each round: slots come
 * and go in both together. Tokens of tenants and averages only in those rounds that are for
 * all. All loads that are not nothing once in PULSE_WHOLE, so
 * that whoever starts, or missed a batch, knows after that time, and so that others hear
 * that we are there even if there is nothing to tell.
 *
 * These go five times as often as the rest since what is not known of them yet is what makes
 * several agents choose the same replica: three that draw by soft-k and are 20 ms apart spread
 * requests in flight 1.3 times as widely as one, by the standard deviation; 100 ms apart 1.5 times.
 */
#pragma once

#include "policies/state/facts.h"
#include "redis/wire.h"

struct pulse;

#define PULSE_WHOLE    (1 * SECOND)
#define PULSE_AVERAGES (10 * SECOND)

MUST_CHECK struct pulse *pulse_new(struct facts *facts); /* NULL when out of memory */
void pulse_free(struct pulse *pulse);

/* A round begins; nothing is told anew while the one before is not at its end. */
void pulse_begin(struct pulse *pulse, bool all, usec_t now);
/* Adds to the batch what is still to be told in this round. False: it ends with this batch,
 * which may be empty; true: there was no room for all. */
bool pulse_fill(struct pulse *pulse, struct wire_writer *writer, usec_t now);
/* The round is one that is told even if it is empty. */
bool pulse_is_whole(const struct pulse *pulse);
/* Everything is told anew in the next round, at once: nobody may have heard of it. */
void pulse_anew(struct pulse *pulse);
