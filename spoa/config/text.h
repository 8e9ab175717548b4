/* text.h - a whole file in memory. */
#pragma once

#include <stddef.h>

#include "policies/core/error.h"

/* NULL, with a reason, when the file cannot be read or is larger than max bytes.
 * The caller frees it; a NUL follows the last byte. */
char *text_read(const char *path, size_t max, size_t *ret_len, struct error *error);
