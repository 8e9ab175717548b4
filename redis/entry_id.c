/* entry_id.c - ids of entries, read and written. */
#include "redis/entry_id.h"

#include <inttypes.h>
#include <stdio.h>

/* Digits only, at least one, of a number that fits; leaves *at behind them. */
static bool read_number(struct span text, size_t *at, uint64_t *ret_number)
{
	uint64_t number = 0;
	size_t i = *at;

	for (; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++) {
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(text.at[i] - '0'), &number))
			return false;
	}
	if (i == *at)
		return false;
	*at = i;
	*ret_number = number;
	return true;
}

bool entry_id_read(struct span text, struct entry_id *ret_id)
{
	struct entry_id id;
	size_t at = 0;

	if (!read_number(text, &at, &id.ms) || at == text.len || text.at[at++] != '-' ||
	    !read_number(text, &at, &id.number) || at != text.len)
		return false;
	*ret_id = id;
	return true;
}

struct span entry_id_write(struct entry_id id, char ret_text[ENTRY_ID_TEXT_MAX])
{
	int length =
	        snprintf(ret_text, ENTRY_ID_TEXT_MAX, "%" PRIu64 "-%" PRIu64, id.ms, id.number);

	return (struct span){ ret_text, (size_t)length };
}

bool entry_id_before(struct entry_id a, struct entry_id b)
{
	return a.ms != b.ms ? a.ms < b.ms : a.number < b.number;
}
