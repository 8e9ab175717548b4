/* fuzz_exposition.c - any page ends, its samples lie inside it, and an engine read from it
 * says nothing that no engine can mean, however the page comes in. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/engines/exposition.h"
#include "spoa/engines/reader.h"
#include "tests/fuzz/fuzz.h"

static int inside(struct span part, const char *from, size_t size)
{
	return part.at >= from && part.len <= size && (size_t)(part.at - from) <= size - part.len;
}

static void check_samples(const char *text, size_t size)
{
	struct exposition page = { .rest = { text, size } };
	struct exposition_sample sample;
	struct span value;

	while (exposition_next(&page, &sample)) {
		if (sample.name.len == 0 || !inside(sample.name, text, size) ||
		    !inside(sample.labels, text, size))
			abort();
		if (exposition_label(sample.labels, "le", &value) && !inside(value, text, size))
			abort();
	}
}

static void read_in_pieces(struct engine_reader *reader, struct span text, size_t step,
                           struct engine_reading *reading)
{
	while (text.len > 0) {
		size_t piece = text.len < step ? text.len : step;

		engine_reader_feed(reader, (struct span){ text.at, piece });
		text = (struct span){ text.at + piece, text.len - piece };
	}
	memset(reading, 0, sizeof(*reading));
	engine_reader_end(reader, reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct engine_profiles *profiles;
	static struct engine_reader *reader;
	struct span text = { (const char *)data, size };
	struct engine_reading whole, pieces;

	if (!profiles) {
		struct problems *problems = problems_new();

		profiles = engine_profiles_load(NULL, problems);
		problems_free(problems);
	}
	if (!reader)
		reader = engine_reader_new(profiles);
	check_samples(text.at, text.len);
	read_in_pieces(reader, text, size + 1, &whole);
	read_in_pieces(reader, text, size % 61 + 1, &pieces);
	for (size_t i = 0; i < ENGINE_FIELD_COUNT; i++)
		if (isnan(whole.values[i]) || (whole.values[i] < 0 && whole.values[i] != -1) ||
		    (size < 4096 && whole.values[i] != pieces.values[i]))
			abort();
	if (whole.loras.active_count > ENGINE_LORAS_MAX ||
	    whole.loras.waiting_count > ENGINE_LORAS_MAX)
		abort();
	return 0;
}
