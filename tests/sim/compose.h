/* compose.h - the requests a player sends: text from a seed, JSON around it, a head before it. Pure
 * but for the memory that bytes take. */
#pragma once

#include <stdint.h>

#include "policies/core/rng.h"
#include "tests/sim/bytes.h"
#include "tests/sim/player_options.h"

/* So many bytes of small words; no character needs an escape in JSON. */
void compose_words(struct bytes *out, struct rng *rng, size_t len);

/* A chat message; a comma before it unless it is the first. */
void compose_message(struct bytes *messages, const char *role, struct span content);

/* The JSON around messages. */
void compose_body(struct bytes *out, const struct player_options *options, struct span messages,
                  bool stream);

/* The head of a POST with a body of this length. extra: a whole header line, or empty. */
void compose_head(struct bytes *out, const struct player_options *options, size_t body_len,
                  const char *extra);
