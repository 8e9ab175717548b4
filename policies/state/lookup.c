/* lookup.c - open addressing, place + 1 in each slot, 0 for none. */
#include "policies/state/lookup.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "policies/core/bug.h"

struct lookup {
	uint32_t room, count;
	uint32_t mask;
	uint32_t *slots;
};

struct lookup *lookup_new(uint32_t room)
{
	struct lookup *lookup;
	uint32_t size = 2;

	BUG_ON(room == 0 || room > 1u << 30);
	while (size / 2 < room)
		size *= 2;
	lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return NULL;
	lookup->room = room;
	lookup->mask = size - 1;
	lookup->slots = calloc(size, sizeof(*lookup->slots));
	if (!lookup->slots) {
		lookup_free(lookup);
		return NULL;
	}
	return lookup;
}

void lookup_free(struct lookup *lookup)
{
	if (!lookup)
		return;
	free(lookup->slots);
	free(lookup);
}

void lookup_clear(struct lookup *lookup)
{
	lookup->count = 0;
	memset(lookup->slots, 0, ((size_t)lookup->mask + 1) * sizeof(*lookup->slots));
}

void lookup_add(struct lookup *lookup, uint64_t hash, uint32_t place)
{
	uint32_t at = (uint32_t)hash & lookup->mask;

	BUG_ON(lookup->count == lookup->room);
	while (lookup->slots[at] != 0)
		at = (at + 1) & lookup->mask;
	lookup->slots[at] = place + 1;
	lookup->count++;
}

bool lookup_next(const struct lookup *lookup, uint64_t hash, uint32_t *at, uint32_t *ret_place)
{
	uint32_t place = lookup->slots[((uint32_t)hash + *at) & lookup->mask];

	if (place == 0)
		return false;
	(*at)++;
	*ret_place = place - 1;
	return true;
}

uint64_t lookup_hash(struct span name, uint64_t seed)
{
	return name.at ? XXH64(name.at, name.len, seed) : XXH64("", 0, seed);
}
