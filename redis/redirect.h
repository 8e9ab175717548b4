/* redirect.h - where a cluster or a sentinel says that the keys are. Pure. */
#pragma once

#include "redis/url.h"

#include "policies/core/span.h"

/* "MOVED 866 10.0.0.2:6379" or "ASK 866 10.0.0.2:6379"; no host means the one that said
 * so. False: it names no place. */
MUST_CHECK bool redis_redirect_read(struct span text, const struct redis_host *said_by,
                                    struct redis_host *ret_host);
/* A name and a port in digits, as two texts. False: not a place. */
MUST_CHECK bool redis_place_read(struct span name, struct span port, struct redis_host *ret_host);
