/* fuzz_exposition.c - any page ends, its samples lie inside it, and an engine read
 * from it says nothing that no engine can mean. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "spoa/observe/engine_names.h"
#include "spoa/observe/exposition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int inside(struct span part, const char *from, size_t size)
{
	return part.at >= from && part.len <= size && (size_t)(part.at - from) <= size - part.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct exposition page = { .rest = { text, size } };
	struct exposition_sample sample;
	struct engine_reading reading;
	struct span value;

	while (exposition_next(&page, &sample)) {
		if (sample.name.len == 0 || !inside(sample.name, text, size) ||
		    !inside(sample.labels, text, size))
			abort();
		if (exposition_label(sample.labels, "le", &value) && !inside(value, text, size))
			abort();
	}
	engine_names_read((struct span){ text, size }, &reading);
	for (size_t role = 0; role < ENGINE_FIELD_COUNT; role++)
		if (isnan(reading.values[role]) ||
		    (reading.values[role] < 0 && reading.values[role] != -1))
			abort();
	return 0;
}
