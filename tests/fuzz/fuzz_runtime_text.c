/* fuzz_runtime_text.c - any text is an answer of HAProxy or is not; servers never
 * are more than there is room for, and their spans lie inside the text. */
#include <stdlib.h>
#include <string.h>

#include "spoa/observe/runtime_text.h"
#include "tests/fuzz/fuzz.h"

static int inside(struct span part, const char *from, size_t size)
{
	return part.len == 0 ||
	       (part.at >= from && part.len <= size && (size_t)(part.at - from) <= size - part.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { ROOM = 8 };
	const char *text = (const char *)data;
	struct runtime_server servers[ROOM];
	struct runtime_facts facts = { .servers = servers, .room = ROOM };

	if (!runtime_text_read((struct span){ text, size }, &facts))
		return 0;
	if (facts.count > ROOM || facts.info.pid == 0)
		abort();
	for (size_t i = 0; i < facts.count; i++) {
		if (!inside(servers[i].backend, text, size) || !inside(servers[i].name, text, size))
			abort();
		if (!memchr(servers[i].address, 0, sizeof(servers[i].address)))
			abort();
	}
	return 0;
}
