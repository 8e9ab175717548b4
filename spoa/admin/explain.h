/* explain.h - why a request went where it did, or where one would go now. */
#pragma once

#include <jansson.h>

#include "spoa/admin/sources.h"

struct web_request;

/* A decision of the log, and who holds its prompt now. NULL when the id is not
 * known any more, or without memory. */
json_t *explain_past(const struct sources *sources, struct span id);

/* A dry run: the arguments model, host, path, method, tenant, session, strategy,
 * backend and header=NAME:VALUE say what the request is, its body is the prompt,
 * or with whole=1 a body with a prompt in it. Same walk, no slot, nothing counted.
 * NULL without a decider or memory. */
json_t *explain_dry(const struct sources *sources, const struct web_request *request);
