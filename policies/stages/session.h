/* session.h - the key that a session is pinned by. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/route.h"
#include "policies/state/facts.h"

/* The request came with a key of its own, not with an id that we gave. */
bool session_is_key(const struct request *request);

/* Of such a key: one caller's sessions of one model are not another's. model: of the fleet. */
struct pin_key session_key(const struct facts *facts, const struct request *request,
                           uint32_t model);
