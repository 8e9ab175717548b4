/* phases.c - the table of phases, and the costs of a role's candidates. */
#include "policies/phases.h"

#include <math.h>

#include "policies/core/name.h"
#include "policies/signals/signals.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static const double epsilon = 1e-9;
static const double infinity = (double)INFINITY; /* the macro is a float */
static const double least_free = 0.1;            /* of a KV cache: fuller ones look alike */
static const double nearly_full = 0.9;
static const double request_tokens = 3500; /* what one in flight is worth */

static bool capacity_of(const struct walk *walk, const struct candidate *candidate,
                        double *ret_tokens_per_s)
{
	return rates_capacity(walk->facts->rates, candidate->target->id, ret_tokens_per_s);
}

static bool tpot_of(const struct walk *walk, const struct candidate *candidate, double *ret_ms)
{
	return rates_tpot(walk->facts->rates, candidate->target->id, walk->now, ret_ms);
}

static bool kv_usage_of(const struct walk *walk, const struct candidate *candidate,
                        double *ret_ratio)
{
	return engines_kv_usage(walk->facts->engines, candidate->target->id, walk->now,
	                        walk->facts->policy->stale_after, ret_ratio);
}

/* Of the most; 0 when there is none. */
static double share_of(double value, double most)
{
	return most > 0 ? value / most : 0;
}

/* (100 - match in percent) x 0.1 + running / the most that run. */
static double prefix_cache(const struct walk *walk, const struct candidate *candidate,
                           const struct phase_most *most)
{
	return (1 - candidate_share(candidate, walk->prompt)) * 10 +
	       share_of(candidate->running_scored, most->running);
}

static double token_load(const struct walk *walk, const struct candidate *candidate,
                         const struct phase_most *most)
{
	(void)walk;
	(void)most;
	return candidate->tokens;
}

/* (tokens + 3500 x running) x (1 - match^2 / 2) */
static double hybrid_cache_load(const struct walk *walk, const struct candidate *candidate,
                                const struct phase_most *most)
{
	double match = candidate_share(candidate, walk->prompt);

	(void)most;
	return (candidate->tokens + request_tokens * candidate->running_scored) *
	       (1 - match * match / 2);
}

/* (running / the most + 1 - capacity / the most) / (free KV cache / the most). What is not
 * known is neither a prize nor a punishment: as good as the best of it. */
static double load_balancing(const struct walk *walk, const struct candidate *candidate,
                             const struct phase_most *most)
{
	double load = share_of(candidate->running_scored, most->running);
	double capacity, used, room = most->free_kv;

	if (capacity_of(walk, candidate, &capacity) && most->capacity > 0)
		load += 1 - capacity / most->capacity;
	if (kv_usage_of(walk, candidate, &used))
		room = fmax(least_free, 1 - used);
	return load / (room / most->free_kv);
}

/* ms per token x (1 + running), half as much again where the KV cache is nearly full. */
static double conductor(const struct walk *walk, const struct candidate *candidate,
                        const struct phase_most *most)
{
	double ms = most->tpot, used = 0;

	(void)tpot_of(walk, candidate, &ms);
	(void)kv_usage_of(walk, candidate, &used);
	return ms * (1 + candidate->running_scored) * (used > nearly_full ? 1.5 : 1);
}

static const struct pair_phase phases[] = {
	{ .name = "predicted-ttft",
	  .help = "The time until the first token, from what waits and what is not cached.",
	  .role = ROLE_PREFILL,
	  .signal = &signal_predicted_ttft },
	{ .name = "prefix-cache",
	  .help = "The share of the prompt that is not cached, then requests in flight; the "
	          "busiest "
	          "are out.",
	  .role = ROLE_PREFILL,
	  .sigma = true,
	  .cost = prefix_cache },
	{ .name = "conductor",
	  .help = "As predicted-ttft.",
	  .role = ROLE_PREFILL,
	  .signal = &signal_predicted_ttft },
	{ .name = "token-load",
	  .help = "Tokens that wait or are resident.",
	  .role = ROLE_PREFILL,
	  .cost = token_load },
	{ .name = "hybrid-cache-load",
	  .help = "Tokens and requests, up to half less for a cached prompt.",
	  .role = ROLE_PREFILL,
	  .cost = hybrid_cache_load },
	{ .name = "load-balance",
	  .help = "Requests against what the engine can do, more where its KV cache is full.",
	  .role = ROLE_DECODE,
	  .signal = &signal_load_balance },
	{ .name = "load-balancing",
	  .help = "Requests and lack of capacity, over the free share of the KV cache.",
	  .role = ROLE_DECODE,
	  .cost = load_balancing },
	{ .name = "conductor",
	  .help = "Time per token times requests, more where the KV cache is nearly full.",
	  .role = ROLE_DECODE,
	  .cost = conductor },
};

const struct pair_phase *phase_at(size_t i)
{
	return i < sizeof(phases) / sizeof(phases[0]) ? &phases[i] : NULL;
}

const struct pair_phase *phase_named(enum role role, struct span name)
{
	for (size_t i = 0; phase_at(i); i++) {
		if (phases[i].role == role && name_is(phases[i].name, name))
			return &phases[i];
	}
	return NULL;
}

void phase_defaults(struct pair_policy *ret_pair)
{
	ret_pair->prefill = (struct phase_policy){
		.phase = phase_named(ROLE_PREFILL, (struct span){ "predicted-ttft", 14 })
	};
	ret_pair->decode =
	        (struct phase_policy){ .phase = phase_named(ROLE_DECODE,
		                                            (struct span){ "load-balance", 12 }) };
}

const char *phase_name(const struct phase_policy *policy)
{
	return policy->phase ? policy->phase->name : policy->strategy->name;
}

bool phase_reads_load(const struct phase_policy *policy)
{
	const struct weighing *weighings = policy->strategy ? policy->strategy->weighings : NULL;

	for (size_t i = 0; weighings && i < WEIGHINGS_MAX && weighings[i].signal; i++) {
		if (weighings[i].signal->reads_load)
			return true;
	}
	return false;
}

/* Mean and one (sample) standard deviation of what runs. */
static double one_sigma_above(const struct walk *walk)
{
	double count = (double)walk->standing, sum = 0, squares = 0, mean;

	for (size_t i = 0; i < walk->standing; i++)
		sum += walk->pool[i].running_scored;
	mean = sum / count;
	for (size_t i = 0; i < walk->standing; i++) {
		double off = walk->pool[i].running_scored - mean;

		squares += off * off;
	}
	return count > 1 ? mean + sqrt(squares / (count - 1)) : infinity;
}

static struct phase_most most_of(const struct walk *walk)
{
	struct phase_most most = { .free_kv = least_free, .tpot = 1 };
	double capacity, used, ms, sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < walk->standing; i++) {
		const struct candidate *candidate = &walk->pool[i];

		most.running = fmax(most.running, candidate->running_scored);
		if (kv_usage_of(walk, candidate, &used))
			most.free_kv = fmax(most.free_kv, 1 - used);
		if (capacity_of(walk, candidate, &capacity))
			most.capacity = fmax(most.capacity, capacity);
		if (tpot_of(walk, candidate, &ms)) {
			sum += ms;
			known++;
		}
	}
	if (known > 0)
		most.tpot = sum / (double)known;
	return most;
}

static bool is_spread(const struct walk *walk, double spread)
{
	double least = infinity, most = 0;

	for (size_t i = 0; i < walk->standing; i++) {
		least = fmin(least, walk->pool[i].running_scored);
		most = fmax(most, walk->pool[i].running_scored);
	}
	return spread > 0 && most - least >= spread - epsilon;
}

static void cost_by_signal(struct walk *walk, const struct signal *signal)
{
	double *values = walk->scratch->values;

	if (signal->read_all)
		signal->read_all(walk, values);
	for (size_t i = 0; i < walk->standing; i++) {
		if (signal->read && !signal->read(walk, &walk->pool[i], &values[i]))
			values[i] = 0;
		walk->pool[i].score = values[i];
	}
}

static void cost_by_phase(struct walk *walk, const struct pair_phase *phase)
{
	struct phase_most most = most_of(walk);

	for (size_t i = 0; i < walk->standing; i++)
		walk->pool[i].score = phase->cost(walk, &walk->pool[i], &most);
}

static void drop_busiest(struct walk *walk)
{
	double threshold = one_sigma_above(walk);

	for (size_t i = 0; i < walk->standing; i++) {
		if (walk->pool[i].running_scored > threshold + epsilon)
			walk->pool[i].score = infinity;
	}
}

static void cost_by_strategy(struct walk *walk, const struct strategy *strategy)
{
	walk->strategy = strategy;
	stage_score.run(walk);
	for (size_t i = 0; i < walk->standing; i++)
		walk->pool[i].score = 1 - walk->pool[i].score;
}

void phase_costs(struct walk *walk, const struct phase_policy *policy, double spread)
{
	const struct pair_phase *phase = policy->phase;

	if (is_spread(walk, spread)) {
		for (size_t i = 0; i < walk->standing; i++)
			walk->pool[i].score = walk->pool[i].running_scored;
		return;
	}
	if (!phase)
		cost_by_strategy(walk, policy->strategy);
	else if (phase->signal)
		cost_by_signal(walk, phase->signal);
	else
		cost_by_phase(walk, phase);
	if (phase && phase->sigma)
		drop_busiest(walk);
}
