/* ends.h - what becomes of a request that the walk gave to nobody. */
#pragma once

#include "policies/core/route.h"

/* The first fallback service of walk->rule that is fit, that no strict rule of
 * affinity keeps away, and that admits it under the rule's first entry; NULL when
 * there is none. The walk's own pool stays. */
const struct instance *ends_fallback(const struct walk *walk);

/* No fallback service is fit and below its hard limits: one that is between its
 * limits takes nothing, but while it is there nobody is refused. */
bool ends_fallback_is_over(const struct walk *walk);

/* Smooth weighted round robin over the preset. Rather who is fit and allowed by
 * affinity, else who is fit, else anybody; but where a strict rule holds, only
 * whom it allows and who is fit. turns: by target id, kept between calls; only read when the
 * walk is a dry one. NULL when nobody is left. */
const struct instance *ends_in_turn(const struct walk *walk, double *turns);
