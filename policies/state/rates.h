/* rates.h - how fast each engine works, learnt from the counters of its page.
 *
 * The engine counts all that it does, whoever sent it, so each agent sees the whole
 * speed and not its own part of it. A counter that is not on the page leaves what needs
 * it unknown; one that went back means that the engine is a new one.
 *
 * capacity, output tokens/s: see capacity.h; the requests running of an interval are the
 * mean of both pages'.
 * tpot, ms per token: mean time between two tokens, as an average of tau 30 s weighted by
 * tokens; unknown 60 s after the last token.
 * throughput, tokens/s: 2 x prompt + 1 x generated, each smoothed with 60 s; unknown when
 * the page is older than max_age. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"
#include "policies/state/engine.h"

struct rates;

/* What grew between two pages of an engine; negative: not known. */
struct growth {
	double seconds;
	double generated, finished;
};

/* NULL when out of memory. */
MUST_CHECK struct rates *rates_new(uint32_t targets);
void rates_free(struct rates *rates);
enum rates_news {
	RATES_FIRST, /* or no later than the one before */
	RATES_GREW,
	RATES_RESTARTED, /* a counter went back: nothing is known of the engine but this page */
};

/* The next page; sets *ret_growth when RATES_GREW. */
enum rates_news rates_learn(struct rates *rates, uint32_t target, const struct engine_page *page,
                            struct growth *ret_growth);
void rates_forget(struct rates *rates, uint32_t target);

bool rates_capacity(const struct rates *rates, uint32_t target, double *ret_tokens_per_s);
bool rates_tpot(const struct rates *rates, uint32_t target, usec_t now, double *ret_ms);
bool rates_throughput(const struct rates *rates, uint32_t target, usec_t now, usec_t max_age,
                      double *ret_tokens_per_s);
