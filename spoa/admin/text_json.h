/* text_json.h - texts of strangers as JSON strings. */
#pragma once

#include <stddef.h>

#include <jansson.h>

#include "policies/core/span.h"

/* A new string. What is not UTF-8 has '?' for each byte beyond ASCII: a client's
 * path or model must not make a record vanish. NULL when out of memory. */
json_t *text_json(struct span text);
/* NUL-terminated; NULL reads as "". */
json_t *name_json(const char *name);
/* null where the value is negative, not known. */
json_t *known_json(double value);
