/* answers.h - how long the answers of an instance are, in tokens and in bytes.
 *
 * Tokens come from the engines' pages: growth of generated tokens / growth of finished
 * requests, averaged with tau 600 s over all engines of the instance. Bytes come from
 * HAProxy's end lines. An agent that sees only a part of the instance's requests sees the
 * same part of their bytes, so bytes per token = mean bytes of an answer / mean tokens of
 * an answer, both fading with tau 600 s. Where engines do not count what they finished it
 * is bytes / tokens, which holds for one agent alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"
#include "policies/state/rates.h"

struct answers;

/* NULL when out of memory. */
MUST_CHECK struct answers *answers_new(uint32_t targets);
void answers_free(struct answers *answers);
/* An engine of the instance. */
void answers_learn(struct answers *answers, uint32_t instance, const struct growth *growth,
                   usec_t now);
/* A stream of it ended, after so many bytes of answer. */
void answers_sent(struct answers *answers, uint32_t instance, uint64_t bytes, usec_t now);
void answers_forget(struct answers *answers, uint32_t instance);

/* Mean output tokens of a request; unknown when nothing finished for 300 s. */
bool answers_tokens(const struct answers *answers, uint32_t instance, usec_t now,
                    double *ret_tokens);
/* Unknown until 1000 tokens and one end were seen. */
bool answers_bytes_per_token(const struct answers *answers, uint32_t instance, double *ret_bytes);
