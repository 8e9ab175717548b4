/* pulse.h - what is true now, gathered for a batch: loads, use of limits, averages.
 *
 * Numbers that are not as they were told last, each 100 ms; all that are not nothing once in
 * PULSE_WHOLE, so that whoever starts, or missed a batch, knows after that time, and so
 * that others hear that we are there even if there is nothing to tell. */
#pragma once

#include "policies/state/facts.h"
#include "redis/wire.h"

struct pulse;

#define PULSE_WHOLE    (1 * SECOND)
#define PULSE_AVERAGES (10 * SECOND)

MUST_CHECK struct pulse *pulse_new(struct facts *facts); /* NULL when out of memory */
void pulse_free(struct pulse *pulse);

/* A round begins; nothing is told anew while the one before is not at its end. */
void pulse_begin(struct pulse *pulse, usec_t now);
/* Adds to the batch what is still to be told in this round. False: it ends with this batch,
 * which may be empty; true: there was no room for all. */
bool pulse_fill(struct pulse *pulse, struct wire_writer *writer, usec_t now);
/* The round is one that is told even if it is empty. */
bool pulse_is_whole(const struct pulse *pulse);
/* Everything is told anew in the next round, at once: nobody may have heard of it. */
void pulse_anew(struct pulse *pulse);
