/* body.c - finds the prompt as HAProxy's regular expression does, and hashes its
 * blocks as HAProxy's converters do. */
#include "spoa/admin/body.h"

#include <stdbool.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool is_space(char letter)
{
	return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

/* Behind "name", spaces, a colon and spaces at this place; 0 if that is not there. */
static size_t behind_key(struct span body, size_t at, const char *name)
{
	size_t len = strlen(name);

	if (body.len - at < len + 2 || body.at[at] != '"' ||
	    memcmp(body.at + at + 1, name, len) != 0 || body.at[at + 1 + len] != '"')
		return 0;
	at += len + 2;
	while (at < body.len && is_space(body.at[at]))
		at++;
	if (at == body.len || body.at[at] != ':')
		return 0;
	at++;
	while (at < body.len && is_space(body.at[at]))
		at++;
	return at;
}

struct span body_prompt(struct span body)
{
	static const char *const names[] = { "messages", "prompt", "input" };

	for (size_t at = 0; at < body.len; at++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			size_t begin = behind_key(body, at, names[i]);

			if (begin > 0)
				return (struct span){ body.at + begin, body.len - begin };
		}
	}
	return body;
}

uint32_t body_hashes(struct span prompt, const struct ladder *ladder,
                     uint64_t ret_hashes[LADDER_BLOCKS_MAX])
{
	uint32_t count = ladder_usable(ladder, prompt.len);

	for (uint32_t i = 0; i < count; i++)
		ret_hashes[i] = XXH64(prompt.at + ladder->offset[i], ladder->length[i], 0);
	return count;
}
