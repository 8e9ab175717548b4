/* fuzz_redis_apply.c - whatever a store says, from whomever: nothing breaks, nothing counts below
 * zero, and requests go to our own replicas. */
#include <math.h>
#include <string.h>

#include "policies/defaults.h"
#include "policies/pipeline.h"
#include "policies/strategies.h"
#include "redis/apply.h"
#include "tests/fuzz/fuzz.h"

enum { OURS = 7 };

struct agent {
	struct policy policy;
	struct tenant_policy tenant;
	struct facts *facts;
	struct decider *decider;
	struct apply *apply;
	usec_t now;
};

static struct agent *make_agent(void)
{
	static const struct fleet_limits limits = { 4, 8, 4 };
	static const struct server_fact servers[] = {
		{ TEXT("chat"), TEXT("s1"), TEXT("10.0.0.1:8000"), .weight = 1, .up = true },
		{ TEXT("chat"), TEXT("s2"), TEXT("[::1]:8000"), .weight = 1, .up = true },
	};
	static struct agent agent;
	struct policy *policy = &agent.policy;

	policy_default(policy);
	policy->prefix.max_records = 1024;
	policy->max_inflight = 1024;
	policy->session.max_pins = 1024;
	policy->default_instance.chain[0].session_mode = SESSION_HARD;
	memcpy(agent.tenant.name, "*", 2);
	agent.tenant.weight = 1;
	agent.tenant.quota.max_inflight = 1000000;
	policy->tenants = &agent.tenant;
	policy->tenant_count = 1;
	agent.facts = facts_new(policy, &limits);
	expect(agent.facts != NULL);
	(void)fleet_apply(agent.facts->fleet, 0, servers, 2, SECOND, facts_forget, agent.facts);
	agent.decider = decider_new(agent.facts, 1);
	agent.apply = apply_new(agent.facts, OURS);
	agent.now = 1000 * SECOND;
	expect(agent.decider && agent.apply);
	return &agent;
}

static void decide(struct agent *agent)
{
	static const struct span keys[] = { TEXT("a"), TEXT("b") };

	for (size_t i = 0; i < 2; i++) {
		struct request request = { .backend = TEXT("chat"), .session = keys[i] };
		struct decision decision;

		decider_decide(agent->decider, &request, agent->now, &decision);
		if (decision.outcome != OUTCOME_ROUTED)
			continue;
		expect(decision.replica >= decision.instance->replicas &&
		       decision.replica < decision.instance->replicas + 2);
	}
	for (uint32_t i = 0; i < fleet_targets_max(agent->facts->fleet); i++) {
		double running = ledger_running(agent->facts->ledger, i, agent->now);

		expect(running >= 0 && isfinite(running));
	}
}

/* The first byte says which stream, and how old it is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct agent *agent;
	struct span bytes;
	usec_t age;

	if (!agent)
		agent = make_agent();
	if (size == 0)
		return 0;
	agent->now += SECOND / 4;
	age = (usec_t)(data[0] >> 1) * SECOND / 4;
	bytes = (struct span){ (const char *)data + 1, size - 1 };
	if (apply_open(agent->apply, data[0] & 1 ? KEYS_KEPT : KEYS_LIVE, bytes, agent->now - age,
	               agent->now)) {
		while (apply_step(agent->apply, 3, agent->now))
			;
	}
	(void)peers_sweep(agent->facts->peers, agent->now);
	limits_sweep(agent->facts->limits, agent->now);
	decide(agent);
	return 0;
}
