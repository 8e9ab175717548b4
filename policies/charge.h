/* charge.h - what a request is expected to cost the target it was sent to, kept for signals
 * that compare what was sent lately. */
#pragma once

#include "policies/reserve.h"

/* Nothing while nobody reads it (policies/state/recent.h). */
void charge_recent(struct facts *facts, const struct reservation *reservation,
                   const struct decision *decision);
