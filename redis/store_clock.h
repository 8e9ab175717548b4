/* store_clock.h - how late it is at the store, by our own clock.
 *
 * Clocks of different machines are never compared; but an entry's id is the store's own
 * time, and the store tells its time when asked. What lies between them is the entry's age,
 * wherever it was written. Wrong by the way there and back, at most. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"
#include "redis/entry_id.h"
#include "redis/reply.h"

struct store_clock {
	bool known;
	int64_t ahead; /* of ours, us */
};

/* The reply to TIME, asked then. False: it is none. */
MUST_CHECK bool store_clock_read(struct store_clock *clock, const struct redis_reply *reply,
                                 usec_t asked, usec_t now);
/* As of now, in ms since the epoch; 0 when it is not known. */
uint64_t store_clock_ms(const struct store_clock *clock, usec_t now);
/* How old an entry is; 0 when it is not known, or the entry is of a time to come. */
usec_t store_clock_age(const struct store_clock *clock, struct entry_id id, usec_t now);
