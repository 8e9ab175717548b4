/* body.h - what HAProxy would tell of a request's body: for dry runs. */
#pragma once

#include <stdint.h>

#include "policies/core/ladder.h"
#include "policies/core/span.h"

/* The prompt in the body, as the rules of haproxy.cfg cut it: what follows the
 * first "messages":, "prompt": or "input":, to the end; without such a key all of
 * it. Points into the body. */
struct span body_prompt(struct span body);

/* XXH64, seed 0, of each whole block; how many there are. */
uint32_t body_hashes(struct span prompt, const struct ladder *ladder,
                     uint64_t ret_hashes[LADDER_BLOCKS_MAX]);
