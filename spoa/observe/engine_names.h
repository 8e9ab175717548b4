/* engine_names.h - which metric of which engine says what.
 *
 * Names change with versions, so each field has alternates; the first that is on
 * the page counts. A field whose alternates are all absent is unknown, never 0. */
#pragma once

#include "policies/core/span.h"
#include "policies/state/engine.h"

struct engine_reading {
	double values[ENGINE_FIELD_COUNT]; /* -1 = not on the page */
	const char *engine;                /* "vllm", "sglang", ...; NULL: none that we know */
};

/* Reads a whole page. */
void engine_names_read(struct span page, struct engine_reading *ret_reading);
