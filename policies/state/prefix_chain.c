/* prefix_chain.c - the keys of the prefix index: a hash of a block and all before
 * it, in the name space of ladder, model and what else keeps prompts apart. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "policies/core/span.h"
#include "policies/state/prefix_link.h"
#include "policies/state/prefix_records.h"

enum {
	KEY_VERSION = 1,
	BEHIND = 8, /* blocks that a bucket is asked for before its first record is */
};

static void put_le(unsigned char *ret_bytes, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ret_bytes[i] = (unsigned char)(value >> (8 * i));
}

/* Each link waits for the one before: what is asked for meanwhile costs nothing. */
void prefix_chain(const struct prefix_index *index, uint64_t name_space, const uint64_t *hashes,
                  uint32_t blocks, uint64_t *ret_chain)
{
	uint64_t before = name_space;

	for (uint32_t i = 0; i < blocks + BEHIND; i++) {
		if (i < blocks) {
			before = prefix_link(before, hashes[i]);
			ret_chain[i] = before;
			if (index)
				prefix_records_expect_bucket(index, before);
		}
		if (i >= BEHIND && index)
			prefix_records_expect(index, ret_chain[i - BEHIND]);
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
