/* ranks.h - which rank of an engine serves: HAProxy tells of a server only. */
#pragma once

#include "policies/state/facts.h"

/* The rank of this replica's server that has the request: where its slot is; or that it was
 * told to use, which goes along to whatever server HAProxy sends it; or, of a request that we
 * know nothing of, the one with the least running, as engines choose by themselves. flight
 * may be NULL. The replica itself where its server has no ranks. */
const struct replica *ranks_serving(const struct facts *facts, const struct instance *instance,
                                    const struct replica *replica, const struct flight *flight,
                                    usec_t now);
