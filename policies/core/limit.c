/* limit.c - names of limits. */
#include "policies/core/limit.h"

#define AS_NAME(id, name, ...) name,
const char *const limit_kind_names[LIMIT_KINDS] = { LIMITS(AS_NAME) };
#undef AS_NAME

#define AS_CODE(id, name, code, ...) code,
const char *const limit_kind_codes[LIMIT_KINDS] = { LIMITS(AS_CODE) };
#undef AS_CODE

const char *const limit_of_names[LIMIT_SUBJECTS] = { "tenant", "model", "tenant-model" };
