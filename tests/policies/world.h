/* world.h - a small fleet for tests: a few instances, a few replicas each, real
 * state, a clock that is a number.
 *
 *     struct world *world = world_new(2, 4);      backends a and b, servers s1..s4 in each
 *     world_busy(world, "a", "s2", 7);            seven requests in flight there
 *     struct decision d = world_decide(world, world_ask(world)); */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/defaults.h"
#include "policies/lora.h"
#include "policies/pipeline.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"
#include "policies/strategies.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SPAN(text)   ((struct span){ (text), strlen(text) })

enum { WORLD_SERVERS_MAX = 2048 };

struct world {
	struct policy policy;
	struct facts *facts;
	struct decider *decider;
	usec_t now;
	struct server_fact servers[WORLD_SERVERS_MAX];
	char names[WORLD_SERVERS_MAX][3][64]; /* backend, server, address */
	size_t count;
	uint64_t asked;
	char id[32];
};

static inline void world_apply(struct world *world)
{
	(void)fleet_apply(world->facts->fleet, 0, world->servers, world->count, world->now,
	                  facts_forget, world->facts);
}

static inline void world_decider(struct world *world, uint64_t seed)
{
	decider_free(world->decider);
	world->decider = decider_new(world->facts, seed);
	assert_non_null(world->decider);
}

static inline struct world *world_new(size_t instances, size_t replicas)
{
	struct world *world = calloc(1, sizeof(*world));
	struct fleet_limits limits = { 64, WORLD_SERVERS_MAX, 64 };

	assert_non_null(world);
	world->now = 1000 * SECOND;
	policy_default(&world->policy);
	world->policy.prefix.max_records = 65536;
	world->facts = facts_new(&world->policy, &limits);
	assert_non_null(world->facts);
	for (size_t i = 0; i < instances * replicas; i++) {
		snprintf(world->names[i][0], 64, "%c", (char)('a' + i / replicas));
		snprintf(world->names[i][1], 64, "s%zu", i % replicas + 1);
		snprintf(world->names[i][2], 64, "10.%zu.%zu.%zu:8000", i / replicas,
		         i % replicas / 200, i % replicas % 200 + 1);
		world->servers[i] =
		        (struct server_fact){ SPAN(world->names[i][0]), SPAN(world->names[i][1]),
			                      SPAN(world->names[i][2]), .weight = 1, .up = true };
	}
	world->count = instances * replicas;
	world_apply(world);
	world_decider(world, 1);
	return world;
}

static inline void world_free(struct world *world)
{
	decider_free(world->decider);
	facts_free(world->facts);
	free(world);
}

/* The server's line, to be changed; call world_apply() after. */
static inline struct server_fact *world_server(struct world *world, const char *backend,
                                               const char *server)
{
	size_t i = 0;

	while (i < world->count && (strcmp(world->names[i][0], backend) != 0 ||
	                            strcmp(world->names[i][1], server) != 0))
		i++;
	assert_true(i < world->count);
	return &world->servers[i];
}

static inline const struct instance *world_instance(const struct world *world, const char *name)
{
	const struct instance *instance = fleet_instance_named(world->facts->fleet, SPAN(name));

	assert_non_null(instance);
	return instance;
}

static inline const struct replica *world_replica(const struct world *world, const char *backend,
                                                  const char *server)
{
	const struct replica *replica = fleet_replica_named(
	        world->facts->fleet, world_instance(world, backend), 0, SPAN(server));

	assert_non_null(replica);
	return replica;
}

/* So many more requests in flight, sent by us, of no length. */
static inline void world_busy(struct world *world, const char *backend, const char *server,
                              uint32_t requests)
{
	uint32_t instance = world_instance(world, backend)->target->id;
	uint32_t replica = world_replica(world, backend, server)->target->id;

	for (uint32_t i = 0; i < requests; i++) {
		(void)ledger_acquire(world->facts->ledger, instance, 0, 0, world->now);
		(void)ledger_acquire(world->facts->ledger, replica, 0, 0, world->now);
	}
}

static inline double world_running(const struct world *world, const char *backend,
                                   const char *server)
{
	return ledger_running(world->facts->ledger,
	                      world_replica(world, backend, server)->target->id, world->now);
}

/* A request with a new id and no prompt; the id is good until the next one. */
static inline struct request world_ask(struct world *world)
{
	snprintf(world->id, sizeof(world->id), "id-%llu", (unsigned long long)++world->asked);
	return (struct request){ .id = SPAN(world->id) };
}

/* Bytes of prompt, of which the first `common` are those of conversation a, and
 * the others of conversation b. */
static inline void prompt_set(struct request *request, uint64_t bytes, uint64_t common, uint64_t a,
                              uint64_t b)
{
	static const uint32_t lengths[4][2] = {
		{ 4, 1024 }, { 12, 4096 }, { 8, 8192 }, { 8, 32768 }
	};
	uint64_t end = 0;
	uint32_t n = 0;

	request->has_prompt = true;
	request->prompt_bytes = request->body_bytes = request->body_total = bytes;
	for (size_t rung = 0; rung < 4; rung++) {
		for (uint32_t i = 0; i < lengths[rung][0]; i++, n++) {
			end += lengths[rung][1];
			request->hashes[n] = ((end <= common ? a : b) << 16) + n + 1;
		}
	}
	request->hash_count = n;
}

static inline struct request world_ask_long(struct world *world, uint64_t bytes, uint64_t common,
                                            uint64_t a, uint64_t b)
{
	struct request request = world_ask(world);

	prompt_set(&request, bytes, common, a, b);
	return request;
}

static inline struct decision world_decide(struct world *world, struct request request)
{
	struct decision decision;

	decider_decide(world->decider, &request, world->now, &decision);
	return decision;
}

/* The server that was named, or "". */
static inline const char *server_of(const struct decision *decision)
{
	return decision->replica ? fleet_replica_name(decision->replica, 0) : "";
}

static inline void expect_server(const struct decision *decision, const char *server)
{
	assert_int_equal(decision->outcome, OUTCOME_ROUTED);
	assert_string_equal(server_of(decision), server);
}

/* The request's first byte, from where it was sent. */
static inline void world_first_byte(struct world *world, struct span id)
{
	struct flight *flight = inflight_find(world->facts->inflight, flight_id_of(id));

	assert_non_null(flight);
	ledger_first_byte(world->facts->ledger, &flight->instance_slot, world->now);
	if (flight->chosen == TARGET_NONE)
		return;
	ledger_first_byte(world->facts->ledger, &flight->replica_slot, world->now);
	engines_count_first_byte(world->facts->engines, flight->chosen);
	if (flight->blocks > 0)
		prefix_index_confirm(world->facts->prefix, flight->chosen, flight->chain,
		                     flight->blocks, &world->policy.ladder, world->now);
}

static inline void world_end(struct world *world, struct span id)
{
	struct flight flight;

	assert_int_equal(
	        inflight_end(world->facts->inflight, flight_id_of(id), world->now, &flight),
	        INFLIGHT_END_OPEN);
	if (flight.adapter != 0)
		lora_release(world->facts, &flight, world->now);
	if (flight.held != 0)
		pins_release(world->facts->sessions, flight.session, flight.held);
	assert_true(ledger_release(world->facts->ledger, flight.instance_slot, world->now));
	if (flight.chosen != TARGET_NONE)
		assert_true(ledger_release(world->facts->ledger, flight.replica_slot, world->now));
}

/* Both levels by this recipe, without limits. */
static inline void world_strategy(struct world *world, const char *name)
{
	const struct strategy *strategy = strategy_named(SPAN(name));

	assert_non_null(strategy);
	entry_default(&world->policy.default_rule.chain[0], strategy);
	entry_default_replicas(&world->policy.default_instance.chain[0], strategy);
}

/* Level 2's first entry, where most tests set their limits. */
static inline struct entry_policy *world_entry(struct world *world)
{
	return &world->policy.default_instance.chain[0];
}
