/* facts.c - all tables, made at start and kept. */
#include "policies/state/facts.h"

#include <stdlib.h>

enum { TOMBSTONES = 65536, TRIES = 8192 };
static const usec_t tombstone_ttl = 60 * SECOND;
static const usec_t try_ttl = 60 * SECOND; /* clients try again after seconds */

static struct prefix_limits prefix_limits_of(const struct policy *policy, uint32_t targets)
{
	return (struct prefix_limits){ .records = policy->prefix.max_records,
		                       .holders = targets,
		                       .ttl = policy->prefix.ttl,
		                       .provisional_ttl = policy->prefix.provisional_ttl,
		                       .holder_bytes = policy->prefix.holder_bytes };
}

/* A time to live that is no multiple of the width is rounded up to one. */
static usec_t whole_buckets(const struct policy *policy)
{
	usec_t width = policy->ledger_width;

	return (policy->ledger_ttl + width - 1) / width * width;
}

static bool is_whole(const struct facts *facts)
{
	return facts->fleet && facts->ledger && facts->peers && facts->inflight &&
	       facts->averages && facts->health && facts->engines && facts->adapters &&
	       facts->rates && facts->answers && facts->ttft_fits && facts->recent &&
	       facts->prefix && facts->tenants && facts->limits && facts->counters &&
	       facts->sessions && facts->tries;
}

struct facts *facts_new(const struct policy *policy, const struct fleet_limits *limits)
{
	uint32_t targets = limits->instances + limits->replicas;
	struct prefix_limits prefix = prefix_limits_of(policy, targets);
	struct facts *facts = calloc(1, sizeof(*facts));

	if (!facts)
		return NULL;
	facts->policy = policy;
	facts->fleet = fleet_new(limits);
	facts->ledger = ledger_new(targets, policy->ledger_width, whole_buckets(policy));
	facts->peers = facts->ledger ? peers_new(targets, facts->ledger) : NULL;
	facts->inflight = inflight_new(policy->max_inflight, TOMBSTONES, tombstone_ttl);
	facts->averages = averages_new(targets);
	facts->health = health_new(targets, &policy->health);
	facts->engines = engines_new(targets);
	facts->adapters = adapters_new(targets);
	facts->rates = rates_new(targets);
	facts->answers = answers_new(targets);
	facts->ttft_fits = ttft_fits_new(targets);
	facts->recent = recent_new(targets);
	facts->prefix = prefix_index_new(&prefix);
	facts->tenants = tenants_new(TENANTS_MAX);
	facts->limits = limits_new(LIMIT_KEYS_MAX);
	facts->counters = counters_new(targets);
	facts->sessions = pins_new(policy->session.max_pins, targets, policy->session.ttl);
	facts->tries = pins_new(TRIES, targets, try_ttl);
	if (!is_whole(facts)) {
		facts_free(facts);
		return NULL;
	}
	fleet_bind(facts->fleet, policy);
	tenants_set_policy(facts->tenants, policy);
	facts_set_store(facts, false);
	return facts;
}

void facts_free(struct facts *facts)
{
	if (!facts)
		return;
	pins_free(facts->tries);
	pins_free(facts->sessions);
	counters_free(facts->counters);
	limits_free(facts->limits);
	tenants_free(facts->tenants);
	prefix_index_free(facts->prefix);
	recent_free(facts->recent);
	ttft_fits_free(facts->ttft_fits);
	answers_free(facts->answers);
	rates_free(facts->rates);
	adapters_free(facts->adapters);
	engines_free(facts->engines);
	health_free(facts->health);
	averages_free(facts->averages);
	inflight_free(facts->inflight);
	peers_free(facts->peers);
	ledger_free(facts->ledger);
	fleet_free(facts->fleet);
	free(facts);
}

void facts_set_policy(struct facts *facts, const struct policy *policy)
{
	struct prefix_limits prefix = prefix_limits_of(policy, fleet_targets_max(facts->fleet));

	facts->policy = policy;
	fleet_bind(facts->fleet, policy);
	health_set_policy(facts->health, &policy->health);
	tenants_set_policy(facts->tenants, policy);
	prefix_index_tune(facts->prefix, &prefix);
	pins_set_ttl(facts->sessions, policy->session.ttl);
	facts_set_store(facts, facts->store_up);
}

void facts_set_store(struct facts *facts, bool up)
{
	facts->store_up = up;
	limits_set_away(facts->limits, facts->policy->limits_need_redis && !up);
}

void facts_forget(void *data, uint32_t target)
{
	struct facts *facts = data;

	ledger_forget(facts->ledger, target);
	peers_forget(facts->peers, target);
	averages_forget(facts->averages, target);
	health_forget(facts->health, target);
	engines_forget(facts->engines, target);
	adapters_forget(facts->adapters, target);
	rates_forget(facts->rates, target);
	answers_forget(facts->answers, target);
	ttft_fits_forget(facts->ttft_fits, target);
	recent_forget(facts->recent, target);
	prefix_index_forget(facts->prefix, target);
	prefix_index_budget(facts->prefix, target, 0);
	counters_forget(facts->counters, target);
	pins_forget(facts->sessions, target);
	pins_forget(facts->tries, target);
}

void facts_engine_restarted(struct facts *facts, uint32_t target, usec_t now)
{
	struct target *engine = fleet_target(facts->fleet, target);

	if (!engine)
		return;
	engine->since = now;
	engines_put(facts->engines, target, &(struct engine_page){ .at = 0 });
	engines_put_loras(facts->engines, target, &(struct engine_loras){ .at = 0 });
	adapters_forget(facts->adapters, target);
	rates_forget(facts->rates, target);
	ttft_fits_forget(facts->ttft_fits, target);
	prefix_index_forget(facts->prefix, target);
	pins_forget(facts->sessions, target);
	if (facts->share)
		facts->share->calls->forgotten(facts->share->data, target);
}
