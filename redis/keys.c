/* keys.c - the names of the streams. */
#include "redis/keys.h"

#include <stdio.h>
#include <string.h>

#include "redis/wire.h"

const char *const keys_stream_names[KEYS_STREAMS] = { "live", "kept" };

#define SPACE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

bool keys_make(const char *space, struct keys *ret_keys, struct error *error)
{
	size_t length = strlen(space);

	if (length == 0 || length >= KEYS_SPACE_MAX || strspn(space, SPACE_LETTERS) != length)
		return error_set(error,
		                 "expected a name of 1 to %d letters, digits, dots, dashes and "
		                 "underscores",
		                 KEYS_SPACE_MAX - 1);
	for (int i = 0; i < KEYS_STREAMS; i++)
		(void)snprintf(ret_keys->at[i], sizeof(ret_keys->at[i]), "infer:%d:{%s}:%s",
		               WIRE_SCHEMA, space, keys_stream_names[i]);
	return true;
}

struct span keys_of(const struct keys *keys, enum keys_stream stream)
{
	return (struct span){ keys->at[stream], strlen(keys->at[stream]) };
}
