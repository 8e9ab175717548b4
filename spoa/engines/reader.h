/* reader.h - reads an engine's metric page as it comes in, piece by piece.
 *
 * Each piece is read when it is fed, so a long page never takes long at once, and none is
 * kept. Which engine it is, the first metric with a profile's prefix says; until then the
 * metrics of all profiles are collected. */
#pragma once

#include "policies/core/span.h"
#include "spoa/engines/profiles.h"

struct engine_reader;

struct engine_reading {
	const struct engine_profile *profile; /* NULL: no engine that we know */
	double values[ENGINE_FIELD_COUNT];    /* -1 = not on the page */
	struct engine_loras loras;            /* at: 1 when adapters are listed, else 0 */
};

/* The profiles must outlive it. NULL when out of memory. */
MUST_CHECK struct engine_reader *engine_reader_new(const struct engine_profiles *profiles);
void engine_reader_free(struct engine_reader *reader);
/* From now on only what is said of this data-parallel rank counts, and what is said of none;
 * negative, as at first: all ranks together. */
void engine_reader_of_rank(struct engine_reader *reader, int rank);
void engine_reader_feed(struct engine_reader *reader, struct span piece);
/* The page is at its end; the reader begins anew. */
void engine_reader_end(struct engine_reader *reader, struct engine_reading *ret_reading);
