/* schema.h - the JSON schema (draft-07) of a policy file, made from its shape. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* False when there is no memory or the file cannot be written. */
bool schema_print(FILE *out);
