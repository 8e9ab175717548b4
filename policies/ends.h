/* ends.h - what becomes of a request that the walk gave to nobody. */
#pragma once

#include "policies/core/route.h"

/* The first fallback service of walk->rule that is fit and admits it, under the
 * rule's first entry; NULL when there is none. The walk's own pool stays. */
const struct instance *ends_fallback(const struct walk *walk);

/* Smooth weighted round robin over the preset; those that are down are skipped,
 * unless all are. turns: by target id, kept between calls; only read when the
 * walk is a dry one. NULL when there is no preset. */
const struct instance *ends_in_turn(const struct walk *walk, double *turns);
