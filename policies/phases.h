/* phases.h - what one of a pair costs: the ways to choose a prefill replica, and those
 * to choose a decode replica.
 *
 * Each has a name in policy files (prefill.strategy, decode.strategy). Any other name
 * is a strategy's, whose cost is 1 less the score among the candidates of the role. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/route.h"

struct signal; /* policies/signals/signal.h */

/* What is compared to the most there is among the candidates of a role. */
struct phase_most {
	double running;  /* scored */
	double capacity; /* output tokens/s, of those known; 0: of none */
	double free_kv;  /* at least 0.1 */
	double tpot;     /* ms a token, the mean of those known; 1: of none */
};

struct pair_phase {
	const char *name;
	const char *help;
	enum role role; /* PREFILL or DECODE: of which it may be asked */
	bool sigma;     /* who runs more than one standard deviation above the mean is out */
	/* Its value is the cost; NULL: that is by cost(). Either is >= 0, the less the better,
	 * and may be infinite. */
	const struct signal *signal;
	double (*cost)(const struct walk *walk, const struct candidate *candidate,
	               const struct phase_most *most);
};

/* NULL after the last. */
const struct pair_phase *phase_at(size_t i);
/* NULL when there is none of that name for the role. */
const struct pair_phase *phase_named(enum role role, struct span name);

/* prefill by predicted-ttft, decode by load-balance. */
void phase_defaults(struct pair_policy *ret_pair);

/* "predicted-ttft", "least-request", ...: of the phase or the strategy. */
const char *phase_name(const struct phase_policy *policy);
bool phase_reads_load(const struct phase_policy *policy);

/* candidate->score of each of the walk's standing becomes its cost: this walk is one of
 * a role's candidates alone. A spread of requests in flight of at least `spread` (0:
 * none) makes them the cost instead. */
void phase_costs(struct walk *walk, const struct phase_policy *policy, double spread);
