/* sample.h - a trace that is made up, for who has none at hand: conversations of
 * several turns on top of a few long system prompts, as chat services see them. */
#pragma once

#include "spoa/replay/trace.h"

enum { SAMPLE_REQUESTS = 3000 };

/* Same seed, same trace. NULL when out of memory. */
MUST_CHECK struct trace *sample_trace(const struct ladder *ladder, size_t requests, uint64_t seed);
