/* objective.h - when a candidate that would be far too late might be in time. */
#pragma once

#include "policies/core/route.h"

/* Of one that the stage objective dropped: by how many seconds it would be late; 0 where
 * waiting does not mend it, or it would not be. */
double objective_wait_s(const struct walk *walk, const struct candidate *candidate);
