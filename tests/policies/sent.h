/* sent.h - requests that were sent to instance a of a small world, and the events
 * that HAProxy tells of them. */
#pragma once

#include <math.h>

#include "policies/feedback.h"
#include "tests/policies/world.h"

enum { LONG = 40000 }; /* bytes of a prompt; 12 blocks of it can be held */

static inline int open_world(void **state)
{
	*state = world_new(2, 3);
	return *state ? 0 : -1;
}

static inline int close_world(void **state)
{
	world_free(*state);
	return 0;
}

/* One request sent to instance a, and what became of it. */
struct sent {
	struct world *world;
	struct span id;
	uint32_t chosen, other; /* target ids of replicas of a */
	uint32_t instance;
	struct served by, by_other;
};

static inline struct served served_by(const struct instance *instance,
                                      const struct replica *replica)
{
	return (struct served){ .backend = SPAN(instance->name),
		                .server = SPAN(replica->name[0]),
		                .address = target_address(replica->target) };
}

static inline struct sent send_to(struct world *world, struct request request)
{
	static char ids[16][32]; /* the last ones stay good */
	static size_t next;
	struct sent sent = { .world = world };
	struct decision decision;

	next = (next + 1) % COUNT(ids);
	memcpy(ids[next], request.id.at, request.id.len + 1);
	sent.id = request.id = SPAN(ids[next]);
	request.backend = SPAN("a");
	decision = world_decide(world, request);
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_true(decision.slot);
	assert_non_null(decision.replica);
	sent.instance = decision.instance->target->id;
	sent.chosen = decision.replica->target->id;
	sent.by = served_by(decision.instance, decision.replica);
	for (uint32_t i = 0; i < decision.instance->replica_count; i++) {
		const struct replica *replica = &decision.instance->replicas[i];

		if (replica->target->id == sent.chosen)
			continue;
		sent.other = replica->target->id;
		sent.by_other = served_by(decision.instance, replica);
	}
	return sent;
}

static inline struct sent sent_prompt(struct world *world, uint64_t conversation)
{
	return send_to(world, world_ask_long(world, LONG, LONG, conversation, 0));
}

static inline struct feedback first_byte(const struct sent *sent, const struct served *by,
                                         uint32_t status)
{
	const struct first_byte event = { .id = sent->id, .by = *by, .status = status };

	return feedback_first_byte(sent->world->facts, &event, sent->world->now);
}

static inline struct stream_end end_of(const struct sent *sent, const char *termination, int status)
{
	struct stream_end end = { .id = sent->id,
		                  .by = sent->by,
		                  .status = status,
		                  .routed = true,
		                  .applied = true,
		                  .queue_ms = -1 };

	memcpy(end.termination, termination, 4);
	return end;
}

static inline struct feedback tell(const struct sent *sent, const struct stream_end *end)
{
	return feedback_end(sent->world->facts, end, sent->world->now);
}

static inline struct feedback ends(const struct sent *sent, const char *termination, int status)
{
	struct stream_end end = end_of(sent, termination, status);

	return tell(sent, &end);
}

static inline struct work work_at(struct world *world, uint32_t target)
{
	return ledger_work(world->facts->ledger, target, world->now);
}

static inline uint32_t running_at(struct world *world, uint32_t target)
{
	return work_at(world, target).running;
}

static inline void assert_idle(struct world *world)
{
	for (uint32_t i = 0; i < fleet_targets_max(world->facts->fleet); i++) {
		struct work work = work_at(world, i);

		assert_int_equal(work.running + work.awaiting + work.prefill_tokens +
		                         work.resident_tokens,
		                 0);
	}
}

/* Blocks of prompts that the target holds; in these tests all are of one. */
static inline uint32_t held_by(struct world *world, uint32_t target)
{
	return prefix_index_held(world->facts->prefix, target);
}

static inline struct target_counters *counted(const struct sent *sent, uint32_t target)
{
	return &sent->world->facts->counters->of[target];
}

static inline double ttft_of(struct world *world, uint32_t target)
{
	double value = -1;

	(void)average_plain(&averages_of(world->facts->averages, target)->ttft_ms, world->now,
	                    &value);
	return value;
}

static inline double e2e_of(struct world *world, uint32_t target)
{
	double value = -1;

	(void)average_plain(&averages_of(world->facts->averages, target)->e2e_ms, world->now,
	                    &value);
	return value;
}

static inline void assert_near(double value, double expected)
{
	if (fabs(value - expected) > 1e-6)
		fail_msg("%.9g is not %.9g", value, expected);
}

static inline void pass(struct world *world, usec_t time)
{
	world->now += time;
}
