/* kv_pool.h - what an instance's shared store of KV blocks spares a replica that does not
 * hold them itself.
 *
 * A block out of the store is worth 0.6 of one in the engine (what vllm-router 0.1.17 takes
 * off for it). The store is a holder of its own in the prefix index, under the instance's
 * target id, and outlives its replicas. */
#pragma once

#include "policies/core/route.h"
#include "policies/state/facts.h"

#define KV_POOL_SHARE 0.6

bool kv_pool_is_shared(const struct facts *facts, const struct instance *instance);
/* Blocks from the root that the store of this instance holds; 0: it has none, or they are
 * not known. */
uint32_t kv_pool_blocks(const struct walk *walk, const struct instance *instance);
