/* prefix_cache.c - blocks in a hash table with chains, and a list of the idle ones by age.
 *
 * Blocks are numbers into one array, so that a cache is three allocations and a clear is a loop. */
#include "spoa/replay/prefix_cache.h"

#include <stdlib.h>

#include "policies/core/bug.h"

enum { NONE = -1 };

struct block {
	uint64_t hash;
	uint32_t pins;
	int32_t chained;      /* the next of the same bucket, or of the unused */
	int32_t older, newer; /* among the idle */
};

struct prefix_cache {
	uint32_t capacity, held, pinned;
	uint64_t bucket_mask;
	struct block *blocks;
	int32_t *buckets;
	int32_t unused;
	int32_t oldest, newest;
};

/* Hashes of tests are small numbers: mixed, they spread as well as others. */
static int32_t *bucket_of(const struct prefix_cache *cache, uint64_t hash)
{
	return &cache->buckets[(hash * 0x9e3779b97f4a7c15 >> 32) & cache->bucket_mask];
}

static struct block *find(const struct prefix_cache *cache, uint64_t hash)
{
	for (int32_t i = *bucket_of(cache, hash); i != NONE; i = cache->blocks[i].chained) {
		if (cache->blocks[i].hash == hash)
			return &cache->blocks[i];
	}
	return NULL;
}

static void become_idle(struct prefix_cache *cache, struct block *block)
{
	int32_t index = (int32_t)(block - cache->blocks);

	block->older = cache->newest;
	block->newer = NONE;
	if (cache->newest != NONE)
		cache->blocks[cache->newest].newer = index;
	else
		cache->oldest = index;
	cache->newest = index;
}

static void leave_idle(struct prefix_cache *cache, const struct block *block)
{
	if (block->older != NONE)
		cache->blocks[block->older].newer = block->newer;
	else
		cache->oldest = block->newer;
	if (block->newer != NONE)
		cache->blocks[block->newer].older = block->older;
	else
		cache->newest = block->older;
}

void prefix_cache_clear(struct prefix_cache *cache)
{
	for (uint64_t i = 0; i <= cache->bucket_mask; i++)
		cache->buckets[i] = NONE;
	for (uint32_t i = 0; i < cache->capacity; i++)
		cache->blocks[i].chained = i + 1 < cache->capacity ? (int32_t)i + 1 : NONE;
	cache->unused = 0;
	cache->oldest = cache->newest = NONE;
	cache->held = cache->pinned = 0;
}

struct prefix_cache *prefix_cache_new(uint32_t capacity)
{
	struct prefix_cache *cache;
	uint64_t buckets = 16;

	BUG_ON(capacity == 0 || capacity > INT32_MAX);
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return NULL;
	while (buckets < 2 * (uint64_t)capacity)
		buckets *= 2;
	cache->capacity = capacity;
	cache->bucket_mask = buckets - 1;
	cache->blocks = calloc(capacity, sizeof(*cache->blocks));
	cache->buckets = calloc(buckets, sizeof(*cache->buckets));
	if (!cache->blocks || !cache->buckets) {
		prefix_cache_free(cache);
		return NULL;
	}
	prefix_cache_clear(cache);
	return cache;
}

void prefix_cache_free(struct prefix_cache *cache)
{
	if (!cache)
		return;
	free(cache->blocks);
	free(cache->buckets);
	free(cache);
}

bool prefix_cache_holds(const struct prefix_cache *cache, uint64_t hash)
{
	return find(cache, hash) != NULL;
}

uint32_t prefix_cache_match(const struct prefix_cache *cache, const uint64_t *hashes,
                            uint32_t count)
{
	uint32_t held = 0;

	while (held < count && find(cache, hashes[held]))
		held++;
	return held;
}

void prefix_cache_pin(struct prefix_cache *cache, uint64_t hash)
{
	struct block *block = find(cache, hash);

	BUG_ON(!block);
	if (block->pins++ == 0) {
		leave_idle(cache, block);
		cache->pinned++;
	}
}

void prefix_cache_unpin(struct prefix_cache *cache, uint64_t hash)
{
	struct block *block = find(cache, hash);

	BUG_ON(!block || block->pins == 0);
	if (--block->pins == 0) {
		become_idle(cache, block);
		cache->pinned--;
	}
}

void prefix_cache_add(struct prefix_cache *cache, uint64_t hash)
{
	int32_t *bucket = bucket_of(cache, hash);
	struct block *block;
	int32_t index = cache->unused;

	BUG_ON(index == NONE);
	block = &cache->blocks[index];
	cache->unused = block->chained;
	*block = (struct block){ .hash = hash, .pins = 1, .chained = *bucket };
	*bucket = index;
	cache->held++;
	cache->pinned++;
}

bool prefix_cache_evict(struct prefix_cache *cache)
{
	struct block *block;
	int32_t index = cache->oldest;
	int32_t *link;

	if (index == NONE)
		return false;
	block = &cache->blocks[index];
	leave_idle(cache, block);
	link = bucket_of(cache, block->hash);
	while (*link != index)
		link = &cache->blocks[*link].chained;
	*link = block->chained;
	block->chained = cache->unused;
	cache->unused = index;
	cache->held--;
	return true;
}

uint32_t prefix_cache_count(const struct prefix_cache *cache)
{
	return cache->held;
}

uint32_t prefix_cache_pinned(const struct prefix_cache *cache)
{
	return cache->pinned;
}
