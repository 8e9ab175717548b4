/* fuzz_engine_profile.c - any text is a profile or has a problem, and what it names can be
 * read from a page. */
#include <stdlib.h>
#include <string.h>

#include "spoa/engines/reader.h"
#include "tests/fuzz/fuzz.h"

static void use(const struct engine_profiles *profiles)
{
	struct engine_reader *reader = engine_reader_new(profiles);
	struct engine_reading reading;
	uint32_t count;
	const struct term *terms = engine_profiles_terms(profiles, &count);

	for (uint32_t i = 0; reader && i < count; i++) {
		struct span name = { terms[i].name, strlen(terms[i].name) };

		if (engine_profiles_term(profiles, name) == TERM_NONE)
			abort();
		engine_reader_feed(reader, name);
		engine_reader_feed(reader, (struct span){ " 3\n", 3 });
	}
	if (reader)
		engine_reader_end(reader, &reading);
	engine_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems *problems = problems_new();
	struct engine_profiles *profiles;

	if (!problems)
		return 0;
	profiles = engine_profiles_parse("profile.json", (const char *)data, size, problems);
	if (!profiles == (problems_count(problems, SEVERITY_ERROR) == 0))
		abort();
	if (profiles)
		use(profiles);
	engine_profiles_free(profiles);
	problems_free(problems);
	return 0;
}
