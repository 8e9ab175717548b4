/* server_weight.c - a server's name becomes its weight. */
#include "spoa/observe/server_weight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"

enum { LEAST = 1, STEP = 10 };

/* A HAProxy that was told to drain asks again within this time, each of them. */
static const usec_t ready_again = 30 * SECOND;

struct said {
	uint8_t percent; /* 0 = nothing yet */
	bool out;        /* of service, then */
	bool drained;
	usec_t ready_until; /* it was drained, and is not any more */
};

struct server_weights {
	uint32_t targets;
	struct said *of;
};

struct server_weights *server_weights_new(uint32_t targets)
{
	struct server_weights *weights = calloc(1, sizeof(*weights));

	if (!weights)
		return NULL;
	weights->targets = targets;
	weights->of = calloc(targets, sizeof(*weights->of));
	if (weights->of)
		return weights;
	free(weights);
	return NULL;
}

void server_weights_free(struct server_weights *weights)
{
	if (!weights)
		return;
	free(weights->of);
	free(weights);
}

uint32_t server_weight_said(const struct server_weights *weights, uint32_t target)
{
	const struct said *said = target < weights->targets ? &weights->of[target] : NULL;

	return said && !said->drained ? said->percent : 0;
}

/* A server of an instance. */
struct member {
	const struct instance *instance;
	const struct replica *replica; /* NULL: there is none */
};

static struct member member_named(const struct fleet *fleet, struct span backend,
                                  struct span server)
{
	struct member member = { .instance = fleet_instance_named(fleet, backend) };

	for (uint32_t source = 0; member.instance && !member.replica && source < SOURCES_MAX;
	     source++)
		member.replica = fleet_replica_named(fleet, member.instance, source, server);
	return member;
}

static struct member member_at(const struct fleet *fleet, struct span address)
{
	struct member member = { .instance = NULL };

	for (size_t i = 0; !member.replica && i < fleet_instance_count(fleet); i++) {
		member.instance = fleet_instance_at(fleet, i);
		member.replica = fleet_replica_at_address(fleet, member.instance, address);
	}
	return member;
}

static struct member member_of(const struct fleet *fleet, struct span line)
{
	const char *slash = line.len > 0 ? memchr(line.at, '/', line.len) : NULL;
	size_t before = slash ? (size_t)(slash - line.at) : 0;

	if (line.len == 0)
		return (struct member){ .instance = NULL };
	if (!slash)
		return member_at(fleet, line);
	return member_named(fleet, (struct span){ line.at, before },
	                    (struct span){ slash + 1, line.len - before - 1 });
}

static double policy_weight(const struct replica *replica)
{
	return replica->policy ? replica->policy->weight : 1;
}

static bool is_drained(const struct replica *replica)
{
	return policy_weight(replica) <= 0 || replica->target->held;
}

static bool is_out(const struct facts *facts, const struct replica *replica, usec_t now)
{
	uint32_t id = replica->target->id;
	enum health_state state = health_state(facts->health, id, now);

	return state == HEALTH_EJECTED || state == HEALTH_HALF_OPEN || state == HEALTH_STALLED ||
	       health_suspect(facts->health, id, now) || health_backing_off(facts->health, id, now);
}

/* Output tokens per second, for each point of HAProxy's weight; 0: not known. */
static double capacity_of(const struct facts *facts, const struct replica *replica)
{
	double haproxys = replica->weight / policy_weight(replica);
	double capacity;

	if (!rates_capacity(facts->rates, replica->target->id, &capacity) || haproxys <= 0)
		return 0;
	return capacity / haproxys;
}

/* 0..1: of the best of the instance. */
static double share_of(const struct facts *facts, const struct member *member)
{
	double most = 0, most_capacity = 0;
	bool known = true;

	for (uint32_t i = 0; i < member->instance->replica_count; i++) {
		const struct replica *replica = &member->instance->replicas[i];
		double capacity, weight = policy_weight(replica);

		if (!replica->usable || weight <= 0)
			continue;
		capacity = capacity_of(facts, replica);
		known = known && capacity > 0;
		most = weight > most ? weight : most;
		most_capacity = capacity > most_capacity ? capacity : most_capacity;
	}
	if (known && most_capacity > 0)
		return capacity_of(facts, member->replica) / most_capacity;
	return most > 0 ? policy_weight(member->replica) / most : 1;
}

static uint8_t percent_of(const struct facts *facts, const struct member *member, usec_t now)
{
	uint32_t id = member->replica->target->id;
	double percent = 100 * share_of(facts, member) *
	                 (1 - health_failures(facts->health, id, now)) *
	                 health_ramped(facts->health, id, now);

	if (percent < LEAST)
		return LEAST;
	return percent < 100 ? (uint8_t)(percent + 0.5) : 100;
}

/* HAProxy asks for the server, whose best rank speaks for it: the others are our affair. */
static struct member best_rank(const struct facts *facts, const struct member *server, usec_t now)
{
	struct member best = *server;

	for (uint32_t i = 1; i < server->replica->target->ranks; i++) {
		struct member rank = *server;
		bool out, best_out = is_out(facts, best.replica, now);

		rank.replica =
		        fleet_replica_rank(facts->fleet, server->instance, server->replica, i);
		if (!rank.replica)
			continue;
		out = is_out(facts, rank.replica, now);
		if (out != best_out ? best_out
		                    : percent_of(facts, &rank, now) > percent_of(facts, &best, now))
			best = rank;
	}
	return best;
}

/* As said before, unless there is reason enough to say something else. */
static void settle(struct said *said, uint8_t percent, bool out)
{
	int moved = (int)percent - said->percent;

	if (out)
		percent = LEAST;
	if (said->percent == 0 || out != said->out || moved >= STEP || moved <= -STEP || out)
		said->percent = percent;
	said->out = out;
}

/* Requests at a time, for each HAProxy; 0: not known. */
static uint32_t most_running(const struct facts *facts, const struct replica *replica, usec_t now)
{
	const struct engine_page *page = engines_page(facts->engines, replica->target->id, now, 0);
	double slots = replica->policy ? replica->policy->slots : 0;
	uint32_t haproxys = (uint32_t)__builtin_popcount(replica->sources);

	if (slots <= 0 && page)
		slots = page->max_sequences;
	if (slots <= 0 || haproxys == 0)
		return 0;
	slots *= replica->target->ranks > 0 ? replica->target->ranks : 1;
	slots = slots / haproxys + 0.5;
	return slots < 1 ? 1 : slots < UINT32_MAX ? (uint32_t)slots : 0;
}

static size_t write_answer(const struct said *said, uint32_t running, usec_t now, char *ret_answer)
{
	int length = snprintf(ret_answer, SERVER_WEIGHT_ANSWER_MAX, "up %s%u%%",
	                      now < said->ready_until ? "ready " : "", said->percent);

	BUG_ON(length < 0 || length >= SERVER_WEIGHT_ANSWER_MAX);
	if (running > 0)
		length += snprintf(ret_answer + length, SERVER_WEIGHT_ANSWER_MAX - (size_t)length,
		                   " maxconn:%u", running);
	BUG_ON(length + 1 >= SERVER_WEIGHT_ANSWER_MAX);
	ret_answer[length++] = '\n';
	return (size_t)length;
}

enum server_answer server_weight_answer(struct server_weights *weights, const struct facts *facts,
                                        struct span line, usec_t now,
                                        char ret_answer[SERVER_WEIGHT_ANSWER_MAX],
                                        size_t *ret_length)
{
	struct member member = member_of(facts->fleet, line);
	struct said *said;

	if (!member.replica) {
		ret_answer[0] = '\n';
		*ret_length = 1;
		return SERVER_UNKNOWN;
	}
	BUG_ON(member.replica->target->id >= weights->targets);
	said = &weights->of[member.replica->target->id];
	if (is_drained(member.replica)) {
		said->drained = true;
		memcpy(ret_answer, "drain\n", 6);
		*ret_length = 6;
		return SERVER_DRAINED;
	}
	if (said->drained)
		said->ready_until = now + ready_again;
	said->drained = false;
	member = best_rank(facts, &member, now);
	settle(said, percent_of(facts, &member, now), is_out(facts, member.replica, now));
	*ret_length = write_answer(said, most_running(facts, member.replica, now), now, ret_answer);
	return SERVER_ANSWERED;
}
