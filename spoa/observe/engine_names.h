/* engine_names.h - which metric of which engine says what.
 *
 * Names change with versions, so each role has alternates; the first that is on
 * the page counts. A role whose alternates are all absent is unknown, never 0. */
#pragma once

#include "policies/core/span.h"
#include "policies/state/engine.h"

/* ENGINE_ROLE(id, field of struct engine_page). */
#define ENGINE_ROLES(ENGINE_ROLE)                                                                  \
	ENGINE_ROLE(RUNNING, running)                                                              \
	ENGINE_ROLE(WAITING, waiting)                                                              \
	ENGINE_ROLE(KV_USAGE, kv_usage)                                                            \
	ENGINE_ROLE(KV_TOKENS, kv_tokens)                                                          \
	ENGINE_ROLE(PROMPT_TOKENS, prompt_tokens)                                                  \
	ENGINE_ROLE(GENERATION_TOKENS, generation_tokens)                                          \
	ENGINE_ROLE(CACHE_QUERIES, cache_queries)                                                  \
	ENGINE_ROLE(CACHE_HITS, cache_hits)

#define AS_ENUM(id, field) ENGINE_##id,
enum engine_role { ENGINE_ROLES(AS_ENUM) ENGINE_ROLE_COUNT };
#undef AS_ENUM

struct engine_reading {
	double values[ENGINE_ROLE_COUNT]; /* -1 = not on the page */
	const char *engine;               /* "vllm", "sglang", ...; NULL: none that we know */
};

/* Reads a whole page. */
void engine_names_read(struct span page, struct engine_reading *ret_reading);
