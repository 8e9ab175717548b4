/* load_balance.c - load by capacity and cache, as in balance.h. */
#include <math.h>

#include "policies/core/policy.h"
#include "policies/signals/balance.h"
#include "policies/signals/signals.h"
#include "policies/state/facts.h"

/* Mean over those replicas of an instance that may be used; or the replica's own. */
static bool mean_of(const struct walk *walk, const struct candidate *candidate,
                    bool (*reading)(const struct walk *walk, uint32_t target, double *ret_value),
                    double *ret_value)
{
	const struct instance *instance = candidate->instance;
	double sum = 0, value;
	uint32_t known = 0;

	if (candidate->replica)
		return reading(walk, candidate->target->id, ret_value);
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (!replica->usable || !replica->up || !reading(walk, replica->target->id, &value))
			continue;
		sum += value;
		known++;
	}
	if (known > 0)
		*ret_value = sum / known;
	return known > 0;
}

static bool read_capacity(const struct walk *walk, uint32_t target, double *ret_value)
{
	return rates_capacity(walk->facts->rates, target, ret_value) && *ret_value > 0;
}

static bool read_kv_usage(const struct walk *walk, uint32_t target, double *ret_value)
{
	return engines_kv_usage(walk->facts->engines, target, walk->now,
	                        walk->facts->policy->stale_after, ret_value);
}

static bool read_pending(const struct walk *walk, uint32_t target, double *ret_value)
{
	return engines_pending(walk->facts->engines, target, walk->now,
	                       walk->facts->policy->stale_after, ret_value);
}

static double free_of(const struct walk *walk, const struct candidate *candidate)
{
	double usage = 0;

	(void)mean_of(walk, candidate, read_kv_usage, &usage);
	return 1 - usage;
}

static bool is_critical(const struct walk *walk, const struct candidate *candidate)
{
	return free_of(walk, candidate) < walk->entry->balance_critical - 1e-9;
}

struct balance balance_of(const struct walk *walk, bool kv)
{
	struct balance balance = { .no_room = kv };
	double sum = 0, capacity;
	size_t known = 0;

	for (size_t i = 0; i < walk->standing; i++) {
		if (mean_of(walk, &walk->pool[i], read_capacity, &capacity)) {
			sum += capacity;
			known++;
		}
		balance.no_room = balance.no_room && is_critical(walk, &walk->pool[i]);
	}
	balance.mean = known > 0 ? sum / (double)known : 0;
	balance.all_known = known == walk->standing;
	return balance;
}

/* How much HAProxy's weight makes of a request, 1 where all weigh the same. */
static double lightness(const struct walk *walk, const struct candidate *candidate)
{
	if (walk->weight_mean <= 0 || !candidate->replica || candidate->replica->weight <= 0)
		return 1;
	return walk->weight_mean / candidate->replica->weight;
}

static double relative_capacity(const struct balance *balance, const struct walk *walk,
                                const struct candidate *candidate)
{
	double capacity;

	return mean_of(walk, candidate, read_capacity, &capacity) ? capacity / balance->mean : 1;
}

/* running_scored is divided by the weight already; where capacity counts, that is undone. */
static double weighed(const struct balance *balance, const struct walk *walk,
                      const struct candidate *candidate, double more)
{
	double light = lightness(walk, candidate);

	if (balance->mean <= 0)
		return candidate->running_scored + more * light;
	return (candidate->running_scored / light + more) /
	       relative_capacity(balance, walk, candidate);
}

double balance_running(const struct balance *balance, const struct walk *walk,
                       const struct candidate *candidate)
{
	return balance->all_known ? weighed(balance, walk, candidate, 0)
	                          : candidate->running_scored;
}

double balance_load(const struct balance *balance, const struct walk *walk,
                    const struct candidate *candidate)
{
	const struct entry_policy *entry = walk->entry;
	double more = 1.0 / candidate->engines, pending = 0, used;

	if (entry->balance_pending > 0) {
		(void)mean_of(walk, candidate, read_pending, &pending);
		more += entry->balance_pending * pending;
	}
	if (balance->no_room)
		return weighed(balance, walk, candidate, more);
	if (is_critical(walk, candidate))
		return (double)INFINITY;
	used = 1 - free_of(walk, candidate);
	return weighed(balance, walk, candidate, more) * (1 + entry->balance_kv * used * used);
}

static void read_all(const struct walk *walk, double *ret_values)
{
	struct balance balance = balance_of(walk, true);

	for (size_t i = 0; i < walk->standing; i++)
		ret_values[i] = balance_load(&balance, walk, &walk->pool[i]);
}

const struct signal signal_load_balance = {
	.name = "load-balance",
	.help = "Requests in flight, by the engine's measured capacity and the room in its KV "
	        "cache.",
	.scale = SCALE_MINMAX,
	.min_spread = 4,
	.read_all = read_all,
};
