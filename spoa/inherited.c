/* inherited.c - reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES. */
#include "spoa/inherited.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long number_in(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text >= '0' && *text <= '9' ? strtol(text, NULL, 10) : -1;
}

/* Names are separated by colons; there may be fewer than descriptors. */
static bool name_all(struct inherited *inherited, const char *names, struct error *error)
{
	for (uint32_t i = 0; i < inherited->count && *names; i++) {
		size_t length = strcspn(names, ":");

		if (length >= INHERITED_NAME_MAX)
			return error_set(error, "LISTEN_FDNAMES: name %u is longer than %d bytes",
			                 i + 1, INHERITED_NAME_MAX - 1);
		memcpy(inherited->names[i], names, length);
		names += length + (names[length] == ':');
	}
	return true;
}

bool inherited_read(struct inherited *ret_inherited, struct error *error)
{
	struct inherited inherited = { 0 };
	const char *names = getenv("LISTEN_FDNAMES");
	long count = number_in("LISTEN_FDS");

	if (count > 0 && number_in("LISTEN_PID") == (long)getpid()) {
		if (count > INHERITED_MAX)
			return error_set(error, "LISTEN_FDS: %ld sockets, at most %d are taken",
			                 count, INHERITED_MAX);
		inherited.count = (uint32_t)count;
	}
	if (!name_all(&inherited, names ? names : "", error))
		return false;
	*ret_inherited = inherited;
	return true;
}
