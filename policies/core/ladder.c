/* ladder.c - read a ladder, and walk down it. */
#include "policies/core/ladder.h"

#include <string.h>

/* Of all blocks together: HAProxy counts bytes in an int. */
static const uint64_t reach_max = (1u << 31) - 1;

static struct span after(struct span text, size_t count)
{
	return (struct span){ text.at + count, text.len - count };
}

/* Digits, at least one; stops growing where it is too much anyway. */
static bool take_count(struct span *text, uint64_t *ret_count)
{
	uint64_t count = 0;
	size_t i = 0;

	for (; i < text->len && text->at[i] >= '0' && text->at[i] <= '9'; i++) {
		if (count <= reach_max)
			count = count * 10 + (uint64_t)(text->at[i] - '0');
	}
	if (i == 0)
		return false;
	*text = after(*text, i);
	*ret_count = count;
	return true;
}

static bool take(struct span *text, char letter)
{
	if (text->len == 0 || text->at[0] != letter)
		return false;
	*text = after(*text, 1);
	return true;
}

/* COUNTxSIZE, with an optional k. */
static bool take_rung(struct span *text, uint64_t *ret_count, uint64_t *ret_size)
{
	if (!take_count(text, ret_count) || !take(text, 'x') || !take_count(text, ret_size))
		return false;
	if (take(text, 'k'))
		*ret_size *= 1024;
	return true;
}

static bool add_rung(struct ladder *ladder, uint64_t count, uint64_t size, struct error *error)
{
	if (count == 0 || size == 0)
		return error_set(error, "ladder: blocks of nothing, or none of them");
	if (count > LADDER_BLOCKS_MAX - ladder->count)
		return error_set(error, "ladder: more than %d blocks", LADDER_BLOCKS_MAX);
	for (uint64_t i = 0; i < count; i++) {
		uint32_t offset = ladder_reach(ladder, ladder->count);

		if (size > reach_max - offset)
			return error_set(error, "ladder: it reaches beyond 2 GiB");
		ladder->offset[ladder->count] = offset;
		ladder->length[ladder->count] = (uint32_t)size;
		ladder->count++;
	}
	return true;
}

bool ladder_parse(struct span text, struct ladder *ret_ladder, struct error *error)
{
	struct ladder ladder = { .count = 0 };
	struct span rest = text;
	uint64_t count, size;

	if (text.len == 0 || text.len >= sizeof(ladder.id))
		return error_set(error, "ladder: %zu characters are not between 1 and %d", text.len,
		                 LADDER_TEXT_MAX - 1);
	do {
		if (!take_rung(&rest, &count, &size))
			return error_set(error,
			                 "ladder: \"%.*s\" is not a list of COUNTxSIZE like %s",
			                 (int)text.len, text.at, LADDER_DEFAULT);
		if (!add_rung(&ladder, count, size, error))
			return false;
	} while (take(&rest, ','));
	if (rest.len > 0)
		return error_set(error, "ladder: \"%.*s\" is not a list of COUNTxSIZE like %s",
		                 (int)text.len, text.at, LADDER_DEFAULT);
	memcpy(ladder.id, text.at, text.len);
	*ret_ladder = ladder;
	return true;
}

uint32_t ladder_usable(const struct ladder *ladder, uint64_t prompt_bytes)
{
	uint32_t blocks = 0;

	while (blocks < ladder->count && ladder_reach(ladder, blocks + 1) <= prompt_bytes)
		blocks++;
	return blocks;
}

uint32_t ladder_reach(const struct ladder *ladder, uint32_t blocks)
{
	return blocks > 0 ? ladder->offset[blocks - 1] + ladder->length[blocks - 1] : 0;
}
