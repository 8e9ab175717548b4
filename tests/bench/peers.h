/* peers.h - how other routers choose, from what they publish of it, to be compared in
 * the same simulation. Nothing of them is copied, and where a product reads metrics
 * late, here it sees them as they are.
 *
 * least, longest-match: by requests in flight; by leading blocks alone.
 * sglang: cache_aware: the deepest match where it is more than 0.3 of the prompt, else
 *   the smallest index; the least in flight when they differ by more than 64 and by half.
 * aibrix: prefix-cache: the deepest match among those within one standard deviation of
 *   the mean in flight; the least in flight when they differ by more than 8.
 * llm-d: match share x 3, the engine's queue (min-max) x 2, free KV cache x 2.
 * oracle: the earliest first token by every engine's true cache and queue; greedy, so no
 *   bound. */
#pragma once

#include "spoa/replay/play.h"

struct peer_router;

/* NULL when there is none of that name, or no memory. */
struct peer_router *peer_new(const char *name, uint32_t replicas);
void peer_free(struct peer_router *peer);
struct chooser peer_chooser(struct peer_router *peer);
/* NULL after the last. */
const char *peer_name(size_t i);
