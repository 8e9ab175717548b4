/* play_agent.c - requests are asked as HAProxy would ask, answers come back as HAProxy
 * would report them. Nothing of the library is imitated. */
#include "spoa/replay/play_agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/ejection.h"
#include "policies/feedback.h"
#include "policies/pipeline.h"
#include "spoa/replay/play_page.h"

enum { ID_MAX = 32, INSTANCES_MAX = 4, MODELS_MAX = 16 };

static const char pool[] = "pool"; /* the only instance */

struct server {
	char name[16];
	char address[ADDRESS_MAX_BYTES];
	uint32_t target;
};

struct play_agent {
	struct policy policy;
	const char *strategy; /* asked for; NULL: none */
	struct facts *facts;
	struct decider *decider;
	bool scraped;
	uint32_t replicas;
	struct server *servers;
	uint32_t *replica_of; /* by target id */
	struct play_agent_counts counts;
	uint32_t turn; /* of those whom nobody chose for */
};

static struct span text(const char *at)
{
	return (struct span){ at, strlen(at) };
}

static struct span id_of(size_t request, char id[ID_MAX])
{
	int len = snprintf(id, ID_MAX, "r%zu", request);

	return (struct span){ id, (size_t)len };
}

static struct served served_by(const struct play_agent *agent, uint32_t replica)
{
	return (struct served){ .backend = text(pool),
		                .address = text(agent->servers[replica].address) };
}

/* A decision that names no replica leaves it to HAProxy, which takes them in turn. */
static uint32_t taken(struct play_agent *agent, const struct decision *decision)
{
	if (decision->outcome == OUTCOME_ROUTED && decision->replica)
		return agent->replica_of[decision->replica->target->id];
	agent->counts.unrouted++;
	return agent->turn++ % agent->replicas;
}

static void count(struct play_agent *agent, const struct decision *decision)
{
	agent->counts.gated += decision->reason == REASON_GATE;
	for (size_t i = 0; i < 2; i++)
		agent->counts.degraded +=
		        decision->levels[i].walked && decision->levels[i].degraded;
}

static uint32_t choose(void *data, const struct play *play, size_t request, usec_t now)
{
	const struct trace_request *recorded = play_request(play, request);
	struct play_agent *agent = data;
	char id[ID_MAX], session[ID_MAX];
	struct decision decision;
	struct request asked = {
		.id = id_of(request, id),
		.model = text("model"),
		.has_prompt = true,
		.prompt_bytes = recorded->bytes,
		.body_bytes = recorded->bytes,
		.body_total = recorded->bytes,
		.hash_count = recorded->hash_count,
	};

	memcpy(asked.hashes, recorded->hashes, recorded->hash_count * sizeof(uint64_t));
	if (agent->strategy)
		asked.strategy = text(agent->strategy);
	if (recorded->session != 0) {
		(void)snprintf(session, sizeof(session), "s%u", recorded->session);
		asked.session = text(session);
	}
	decider_decide(agent->decider, &asked, now, &decision);
	count(agent, &decision);
	return taken(agent, &decision);
}

static void first_byte(void *data, size_t request, uint32_t replica, usec_t now)
{
	struct play_agent *agent = data;
	char id[ID_MAX];
	struct first_byte event = { id_of(request, id), served_by(agent, replica), 200 };

	(void)feedback_first_byte(agent->facts, &event, now);
}

static void done(void *data, size_t request, uint32_t replica, usec_t now, usec_t elapsed)
{
	struct play_agent *agent = data;
	char id[ID_MAX];
	struct stream_end end = {
		.id = id_of(request, id),
		.by = served_by(agent, replica),
		.status = 200,
		.termination = "----",
		.routed = true,
		.applied = true,
		.decided_ms = 1,
		.first_byte_ms = 1,
		.total_ms = (int32_t)(elapsed / MSEC),
	};

	(void)feedback_end(agent->facts, &end, now);
}

static void second(void *data, const struct play *play, usec_t now)
{
	struct play_agent *agent = data;

	ejection_look(agent->facts, now);
	feedback_sweep(agent->facts, now, NULL, NULL);
	for (uint32_t i = 0; agent->scraped && i < agent->replicas; i++)
		play_page(agent->facts, agent->servers[i].target, play, i, now);
}

struct chooser play_agent_chooser(struct play_agent *agent)
{
	return (struct chooser){ agent, choose, first_byte, done, second };
}

static bool list_servers(struct play_agent *agent)
{
	struct server_fact *facts = calloc(agent->replicas, sizeof(*facts));

	if (!facts)
		return false;
	for (uint32_t i = 0; i < agent->replicas; i++) {
		struct server *server = &agent->servers[i];

		(void)snprintf(server->name, sizeof(server->name), "r%u", i);
		(void)snprintf(server->address, sizeof(server->address), "10.%u.%u.%u:8000",
		               i >> 16 & 255, i >> 8 & 255, (i & 255) + 1);
		facts[i] = (struct server_fact){ .backend = text(pool),
			                         .server = text(server->name),
			                         .address = text(server->address),
			                         .weight = 1,
			                         .up = true };
	}
	(void)fleet_apply(agent->facts->fleet, 0, facts, agent->replicas, SECOND, facts_forget,
	                  agent->facts);
	free(facts);
	for (uint32_t i = 0; i < agent->replicas; i++) {
		agent->servers[i].target =
		        fleet_target_at(agent->facts->fleet, text(agent->servers[i].address))->id;
		agent->replica_of[agent->servers[i].target] = i;
	}
	return true;
}

/* Rules and instances of the policy speak of other places than ours; its defaults,
 * recipes and knobs hold. */
static void settle(struct play_agent *agent, const struct policy *policy, const char *strategy)
{
	agent->policy = *policy;
	agent->policy.levels = LEVELS_BOTH;
	agent->policy.rule_count = 0;
	agent->policy.instance_count = 0;
	agent->strategy = strategy;
	if (strategy)
		agent->policy.lock_strategy = false;
}

struct play_agent *play_agent_new(const struct policy *policy, const char *strategy,
                                  uint32_t replicas, bool scraped, uint64_t seed)
{
	struct fleet_limits limits = { INSTANCES_MAX, replicas, MODELS_MAX };
	struct play_agent *agent = calloc(1, sizeof(*agent));

	if (!agent)
		return NULL;
	agent->replicas = replicas;
	agent->scraped = scraped;
	settle(agent, policy, strategy);
	agent->facts = facts_new(&agent->policy, &limits);
	agent->decider = agent->facts ? decider_new(agent->facts, seed) : NULL;
	agent->servers = calloc(replicas, sizeof(*agent->servers));
	if (agent->decider)
		agent->replica_of =
		        calloc(fleet_targets_max(agent->facts->fleet), sizeof(uint32_t));
	if (agent->servers && agent->replica_of && list_servers(agent))
		return agent;
	play_agent_free(agent);
	return NULL;
}

void play_agent_free(struct play_agent *agent)
{
	if (!agent)
		return;
	decider_free(agent->decider);
	if (agent->facts)
		facts_free(agent->facts);
	free(agent->servers);
	free(agent->replica_of);
	free(agent);
}

struct facts *play_agent_facts(struct play_agent *agent)
{
	return agent->facts;
}

struct play_agent_counts play_agent_counts(const struct play_agent *agent)
{
	struct play_agent_counts counts = agent->counts;

	counts.spilled = agent->facts->counters->spilled;
	return counts;
}

uint64_t play_agent_held(const struct play_agent *agent, usec_t now)
{
	uint64_t held = 0;

	for (uint32_t id = 0; id < fleet_targets_max(agent->facts->fleet); id++) {
		if (fleet_target(agent->facts->fleet, id))
			held += ledger_work(agent->facts->ledger, id, now).running;
	}
	return held;
}
