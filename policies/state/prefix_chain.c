/* prefix_chain.c - the keys of the prefix index: a hash of a block and all before
 * it, in the name space of ladder, model and what else keeps prompts apart. */
#include "policies/state/prefix_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "policies/core/span.h"

enum { KEY_VERSION = 1 };

static uint64_t turned(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

/* XXH64 with seed 0 of two numbers as 16 bytes, little end first: the library's
 * steps for this length, without its questions about length and alignment. */
static uint64_t hash_pair(uint64_t first, uint64_t second)
{
	const uint64_t p1 = 0x9e3779b185ebca87u, p2 = 0xc2b2ae3d27d4eb4fu, p3 = 0x165667b19e3779f9u,
	               p4 = 0x85ebca77c2b2ae63u, p5 = 0x27d4eb2f165667c5u;
	uint64_t hash = p5 + 16;

	hash = turned(hash ^ turned(first * p2, 31) * p1, 27) * p1 + p4;
	hash = turned(hash ^ turned(second * p2, 31) * p1, 27) * p1 + p4;
	hash = (hash ^ hash >> 33) * p2;
	hash = (hash ^ hash >> 29) * p3;
	return hash ^ hash >> 32;
}

static void put_le(unsigned char *ret_bytes, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ret_bytes[i] = (unsigned char)(value >> (8 * i));
}

void prefix_chain(uint64_t name_space, const uint64_t *hashes, uint32_t blocks, uint64_t *ret_chain)
{
	uint64_t before = name_space;

	for (uint32_t i = 0; i < blocks; i++) {
		before = hash_pair(before, hashes[i]);
		ret_chain[i] = before;
	}
}

/* With its length, so that no two lists of fields look alike. */
static void add_field(XXH64_state_t *state, struct span field)
{
	unsigned char length[4];

	put_le(length, field.len, sizeof(length));
	(void)XXH64_update(state, length, sizeof(length));
	if (field.len > 0)
		(void)XXH64_update(state, field.at, field.len);
}

uint64_t prefix_name_space(const struct span *ladder, const struct span *model,
                           const struct span *lora, const struct span *salt)
{
	const unsigned char version = KEY_VERSION;
	XXH64_state_t state;

	(void)XXH64_reset(&state, 0);
	(void)XXH64_update(&state, &version, sizeof(version));
	add_field(&state, *ladder);
	add_field(&state, *model);
	add_field(&state, *lora);
	add_field(&state, *salt);
	add_field(&state, (struct span){ NULL, 0 }); /* tools: HAProxy cannot hash them yet */
	return XXH64_digest(&state);
}
