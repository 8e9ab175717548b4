/* redirect.c - a place is taken only if it can be one: what the store says is foreign text. */
#include "redis/redirect.h"

#include <string.h>

static bool is_name(struct span name)
{
	if (name.len == 0 || name.len >= REDIS_HOST_MAX)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.at[i];

		if (!(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
		    !memchr(".-_:", c, 4))
			return false;
	}
	return true;
}

bool redis_place_read(struct span name, struct span port, struct redis_host *ret_host)
{
	unsigned number = 0;

	if (!is_name(name) || port.len == 0 || port.len > 5)
		return false;
	for (size_t i = 0; i < port.len; i++) {
		if (port.at[i] < '0' || port.at[i] > '9')
			return false;
		number = number * 10 + (unsigned)(port.at[i] - '0');
	}
	if (number == 0 || number > 65535)
		return false;
	memcpy(ret_host->name, name.at, name.len);
	ret_host->name[name.len] = '\0';
	ret_host->port = (uint16_t)number;
	return true;
}

bool redis_redirect_read(struct span text, const struct redis_host *said_by,
                         struct redis_host *ret_host)
{
	const char *end = text.at + text.len;
	const char *space = text.len > 0 ? memrchr(text.at, ' ', text.len) : NULL;
	const char *colon = space ? memrchr(space, ':', (size_t)(end - space)) : NULL;
	struct span name, port;

	if (!colon || memchr(text.at, ' ', text.len) == space)
		return false;
	name = (struct span){ space + 1, (size_t)(colon - space - 1) };
	port = (struct span){ colon + 1, (size_t)(end - colon - 1) };
	if (name.len == 0 && said_by)
		name = (struct span){ said_by->name, strlen(said_by->name) };
	return redis_place_read(name, port, ret_host);
}
