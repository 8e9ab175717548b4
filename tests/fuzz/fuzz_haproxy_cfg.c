/* fuzz_haproxy_cfg.c - any text is a tree of sections, whose lines ascend. */
#include <stdlib.h>
#include <string.h>

#include "spoa/config/haproxy_cfg.h"
#include "tests/fuzz/fuzz.h"

static const char *no_value(const void *data, struct span name)
{
	(void)data;
	return name.len == 4 && memcmp(name.at, "HOME", 4) == 0 ? "/home" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct haproxy_environment environment = { no_value, NULL };
	struct arena *arena = arena_new();
	const struct haproxy_cfg *cfg;
	uint32_t number = 0;

	if (!arena)
		return 0;
	cfg = haproxy_cfg_read((struct span){ (const char *)data, size }, 3000011, &environment,
	                       arena);
	for (uint32_t i = 0; cfg && i < cfg->count; i++) {
		const struct haproxy_section *section = &cfg->sections[i];

		if (section->head->number <= number)
			abort();
		number = section->head->number;
		for (uint32_t j = 0; j < section->count; j++) {
			if (section->lines[j].number <= number || section->lines[j].count == 0)
				abort();
			number = section->lines[j].number;
			for (uint32_t k = 0; k < section->lines[j].count; k++)
				if (strlen(section->lines[j].words[k]) > HAPROXY_WORDS_TEXT_MAX)
					abort();
		}
	}
	arena_free(arena);
	return 0;
}
