/* keys.h - what is where in the store: two streams for each deployment.
 *
 *     infer:1:{SPACE}:live   what is true now: loads, use of limits, ejections, averages
 *     infer:1:{SPACE}:kept   what stays true: bindings, evictions, pins; read by who starts
 *
 * 1 is the version of what the entries are (WIRE_SCHEMA). SPACE keeps deployments apart
 * that share a store; in braces it is the only part that a cluster hashes, so both
 * streams are of one slot and one command may name both. An entry has one field,
 * KEYS_FIELD, whose value is a batch (redis/wire.h). Both expire by themselves. */
#pragma once

#include "policies/core/error.h"
#include "policies/core/span.h"

enum {
	KEYS_SPACE_MAX = 64, /* bytes, with the NUL */
	KEYS_KEY_MAX = 96,
};

#define KEYS_FIELD "b"

enum keys_stream { KEYS_LIVE, KEYS_KEPT, KEYS_STREAMS };
extern const char *const keys_stream_names[KEYS_STREAMS];

struct keys {
	char at[KEYS_STREAMS][KEYS_KEY_MAX];
};

/* False, with a reason: a space is 1..63 letters, digits and ._- */
MUST_CHECK bool keys_make(const char *space, struct keys *ret_keys, struct error *error);
struct span keys_of(const struct keys *keys, enum keys_stream stream);
