/* models.h - /v1/models: what can be asked for, in the shape OpenAI's clients read.
 *
 * From memory: the engines' own lists as they were read last, and the policy's
 * aliases. Sorted, each once. */
#pragma once

#include <jansson.h>

#include "spoa/admin/sources.h"

/* A new object; an empty list is a list. NULL when memory ran out. */
json_t *models_list(const struct sources *sources);
/* One of them; NULL when nobody serves it. */
json_t *models_one(const struct sources *sources, const char *name);
