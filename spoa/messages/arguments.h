/* arguments.h - look arguments up by name, and read them as what they should be. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/span.h"
#include "spoa/spop/value.h"

struct argument_name {
	const char *at;
	size_t length;
};

/* Index of the name, count if there is none. expected: tried first; arguments come
 * in the order of the SPOE file, so that it is nearly always right. */
size_t argument_find(const struct argument_name *names, size_t count, struct spop_text name,
                     size_t expected);

/* Bytes in the frame: STRING or BINARY. Nothing sent, or no byte: at NULL. False,
 * and at NULL, for another type. */
bool argument_text(const struct spop_value *value, struct span *ret_text);

/* Any integer that is not negative. False if it is not that, or not there. */
bool argument_number(const struct spop_value *value, uint64_t *ret_number);

/* All 64 bits of any integer, whatever its sign. */
bool argument_bits(const struct spop_value *value, uint64_t *ret_bits);
