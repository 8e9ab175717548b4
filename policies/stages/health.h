/* health.h - who is fit to be sent a request. */
#pragma once

#include "policies/core/route.h"

/* HAProxy does not say DOWN, and feedback has not just seen it refuse. */
bool health_fit(const struct walk *walk, const struct replica *replica);
