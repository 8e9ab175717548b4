/* load.c - readings from outside our own ledger, each with its age.
 *
 * What is too old is unknown, never zero. An instance reads engines as the mean
 * of its usable replicas, and has averages of its own. */
#include "policies/stages/load.h"

#include "policies/core/policy.h"
#include "policies/stages/collect.h"
#include "policies/stages/health.h"
#include "policies/stages/scratch.h"
#include "policies/state/facts.h"

static const double event_fresh_s = 60;

static double pending_of(const struct walk *walk, uint32_t target)
{
	double requests = -1;

	(void)engines_pending(walk->facts->engines, target, walk->now,
	                      walk->facts->policy->stale_after, &requests);
	return requests;
}

static double kv_usage_of(const struct walk *walk, uint32_t target)
{
	double ratio = -1;

	(void)engines_kv_usage(walk->facts->engines, target, walk->now,
	                       walk->facts->policy->stale_after, &ratio);
	return ratio;
}

/* Sums up what is known of one number. */
struct mean {
	double sum;
	uint32_t known;
};

static void add(struct mean *mean, double value)
{
	mean->sum += value >= 0 ? value : 0;
	mean->known += value >= 0;
}

/* -1 when it is known of none. */
static double of_known(const struct mean *mean)
{
	return mean->known > 0 ? mean->sum / mean->known : -1;
}

/* Of an instance the mean over its usable replicas. */
static void read_engines(const struct walk *walk, const struct candidate *candidate,
                         struct load *load)
{
	const struct instance *instance = candidate->instance;
	struct mean pending = { 0 }, kv_usage = { 0 };
	double waiting;

	load->pending = load->kv_usage = -1;
	if (walk->averages_only)
		return;
	if (candidate->replica) {
		load->pending = pending_of(walk, candidate->target->id);
		load->kv_usage = kv_usage_of(walk, candidate->target->id);
		return;
	}
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (!collect_usable(walk, replica) || !health_fit(walk, replica))
			continue;
		add(&pending, pending_of(walk, replica->target->id));
		add(&kv_usage, kv_usage_of(walk, replica->target->id));
	}
	load->pending = of_known(&pending);
	if (engines_queue(walk->facts->engines, candidate->target->id, walk->now,
	                  walk->facts->policy->stale_after, &waiting))
		load->pending = (load->pending > 0 ? load->pending : 0) +
		                waiting / candidate->engines; /* for any of them */
	load->kv_usage = of_known(&kv_usage);
}

static const struct average *average_of(const struct walk *walk, const struct candidate *candidate,
                                        bool ttft)
{
	const struct latency *latency = averages_of(walk->facts->averages, candidate->target->id);

	return ttft ? &latency->ttft_ms : &latency->e2e_ms;
}

/* An average drifts towards the mean of the others' as it ages. */
static void read_averages(const struct walk *walk, bool ttft)
{
	double *plain = walk->scratch->values;
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < walk->count; i++) {
		plain[i] = -1;
		if (!average_plain(average_of(walk, &walk->pool[i], ttft), walk->now, &plain[i]))
			continue;
		sum += plain[i];
		known++;
	}
	for (size_t i = 0; i < walk->count; i++) {
		double others =
		        plain[i] >= 0 && known > 1 ? (sum - plain[i]) / (double)(known - 1) : -1;
		double value = -1;

		(void)average_read(average_of(walk, &walk->pool[i], ttft), others, walk->now,
		                   &value);
		if (ttft)
			walk->scratch->loads[i].ttft_ms = value;
		else
			walk->scratch->loads[i].e2e_ms = value;
	}
}

void load_read(struct walk *walk)
{
	for (size_t i = 0; i < walk->count; i++) {
		walk->pool[i].load = &walk->scratch->loads[i];
		read_engines(walk, &walk->pool[i], &walk->scratch->loads[i]);
		walk->scratch->loads[i].failures =
		        health_failures(walk->facts->health, walk->pool[i].target->id, walk->now);
	}
	read_averages(walk, true);
	read_averages(walk, false);
}

static bool is_recent(const struct average *average, usec_t now)
{
	return average->weight > 0 && seconds_between(average->at, now) <= event_fresh_s;
}

/* A dead feed of events makes counts grow, so a count alone refuses nobody. */
bool load_trusts_running(const struct walk *walk, const struct candidate *candidate)
{
	const struct latency *latency =
	        averages_of(walk->facts->averages, candidate->instance->target->id);

	return candidate->own == 0 || is_recent(&latency->ttft_ms, walk->now) ||
	       is_recent(&latency->e2e_ms, walk->now) ||
	       ledger_reconciled(walk->facts->ledger, candidate->target->id, walk->now,
	                         walk->facts->policy->stale_after);
}

bool load_trusts_ttft(const struct walk *walk, const struct candidate *candidate)
{
	return average_trusted(average_of(walk, candidate, true), walk->now);
}

bool load_trusts_e2e(const struct walk *walk, const struct candidate *candidate)
{
	return average_trusted(average_of(walk, candidate, false), walk->now);
}
