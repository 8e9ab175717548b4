/* share.h - who wants to hear what this agent has learnt: a store that other agents read.
 *
 * Called where things happen, told and never awaited: nothing comes back, a call only
 * notes what is to be told, and costs as much as a copy. What was learnt from other
 * agents is never told again, so nothing goes round.
 *
 * What has a value at all times, as loads and the use of limits, is not told but read, each
 * tick: ledger_tell(), limits_tell(), tenants_tell(), averages_of(). */
#pragma once

#include <stdint.h>

#include "policies/core/ladder.h"
#include "policies/core/time.h"

struct pin_key; /* policies/state/pins.h */

struct share_calls {
	/* A good answer confirmed that the holder has this chain (chained hashes, root first,
	 * 1..LADDER_BLOCKS_MAX of them). Each time it is confirmed anew, too. */
	void (*bound)(void *data, uint32_t holder, const uint64_t *chain, uint32_t blocks,
	              const struct ladder *ladder);
	/* It answered abnormally, and does not count as the chain's holder any more. */
	void (*evicted)(void *data, uint32_t holder, const uint64_t *chain, uint32_t blocks,
	                const struct ladder *ladder);
	/* Its engine restarted: its cache is empty. (That it is gone from one HAProxy says
	 * nothing of its cache, and is not told.) */
	void (*forgotten)(void *data, uint32_t target);
	/* from TARGET_NONE: it was pinned nowhere; from == to: it is used, and still there. */
	void (*pinned)(void *data, const struct pin_key *key, uint32_t from, uint32_t to);
	/* Out of service for so long at least, for reasons of our own. */
	void (*ejected)(void *data, uint32_t target, usec_t length);
	/* Back in service, after an ejection that was told. */
	void (*recovered)(void *data, uint32_t target);
};

/* All calls are set. facts->share is NULL when nobody listens. */
struct share {
	const struct share_calls *calls;
	void *data;
};
