/* prefix_cache.h - the KV blocks an engine keeps: pinned while in use, the least recently used
 * leaves first.
 *
 * A block is known by its hash, which stands for the block and all before it, so the blocks held of
 * a prompt are found by asking for one after the other. Nothing is allocated after the start; the
 * owner sees to it that there is room (prefix_cache_evict) before it adds a block. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct prefix_cache;

/* NULL when out of memory. At least one block. */
struct prefix_cache *prefix_cache_new(uint32_t capacity);
void prefix_cache_free(struct prefix_cache *cache);
void prefix_cache_clear(struct prefix_cache *cache);

bool prefix_cache_holds(const struct prefix_cache *cache, uint64_t hash);

/* How many of these blocks are held, from the first one on without a gap. */
uint32_t prefix_cache_match(const struct prefix_cache *cache, const uint64_t *hashes,
                            uint32_t count);

/* Of a block that is held. A block that is pinned n times is unpinned n times. */
void prefix_cache_pin(struct prefix_cache *cache, uint64_t hash);
void prefix_cache_unpin(struct prefix_cache *cache, uint64_t hash);

/* A new block, pinned once. It is not held yet, and fewer than capacity are. */
void prefix_cache_add(struct prefix_cache *cache, uint64_t hash);

/* Drops the block that was not in use for longest; false when all are pinned. */
bool prefix_cache_evict(struct prefix_cache *cache);

uint32_t prefix_cache_count(const struct prefix_cache *cache);  /* all that are held */
uint32_t prefix_cache_pinned(const struct prefix_cache *cache); /* those in use */
