/* measure.c - what each candidate bears, and how much of the prompt it holds.
 *
 * Loads are compared after division by the relative weight, and with a penalty
 * for failures; both are relative to those standing, so they are worked out once
 * a level, before anything is compared. */
#include <math.h>

#include "policies/core/policy.h"
#include "policies/stages/collect.h"
#include "policies/stages/health.h"
#include "policies/stages/kv_pool.h"
#include "policies/stages/load.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"
#include "policies/state/ledger_look.h"

static const double resident_share = 0.3; /* of a resident token in `tokens` */
static const double newcomer = 10;        /* requests that a failing idle target is charged */

/* Of the whole prompt, less what is held of it. */
static double uncached_of(const struct walk *walk, uint32_t matched)
{
	return (double)((int64_t)walk->prompt->total_bytes - matched) *
	       walk->scratch->tokens_per_byte;
}

static void hold(const struct walk *walk, struct candidate *candidate, uint8_t blocks,
                 bool continued)
{
	candidate->blocks = blocks;
	candidate->continued = continued;
	if (blocks > 0)
		candidate->matched = ladder_reach(&walk->facts->policy->ladder, blocks);
	candidate->uncached_tokens = uncached_of(walk, candidate->matched);
}

static inline void read_holding(const struct walk *walk, uint32_t target, uint8_t *blocks,
                                bool *continued)
{
	const struct holding *holding = &walk->scratch->holdings[target];

	if (holding->stamp != walk->scratch->stamp || holding->blocks < *blocks)
		return;
	*continued =
	        holding->blocks > *blocks ? holding->continued : *continued || holding->continued;
	*blocks = holding->blocks;
}

static inline void read_ledger(const struct walk *walk, struct candidate *candidate)
{
	struct load_seen seen;
	double running = ledger_load(walk->facts->ledger, candidate->target->id, walk->now, &seen);

	candidate->own = seen.own;
	candidate->running = candidate->running_scored = running;
	candidate->prefill_tokens = seen.prefill_tokens;
	candidate->tokens = candidate->prefill_tokens + resident_share * seen.resident_tokens;
}

static void share_among_engines(struct candidate *candidate)
{
	candidate->running /= candidate->engines;
	candidate->running_scored = candidate->running;
	candidate->prefill_tokens /= candidate->engines;
	candidate->tokens /= candidate->engines;
}

/* What the instance's store spares one that holds so much itself. */
static double spared_by_store(const struct walk *walk, uint32_t reach, uint32_t matched)
{
	return reach > matched ? KV_POOL_SHARE * (reach - matched) * walk->scratch->tokens_per_byte
	                       : 0;
}

/* Blank but for who they are. Most hold nothing, which is worked out once. */
static void measure_replicas(const struct walk *walk, struct candidate *pool, size_t count)
{
	bool any_match = walk->scratch->any_match;
	uint32_t stored = any_match && count > 0 ? kv_pool_blocks(walk, pool[0].instance) : 0;
	uint32_t reach = ladder_reach(&walk->facts->policy->ladder, stored);
	double uncached = uncached_of(walk, 0) - spared_by_store(walk, reach, 0);

	for (size_t i = 0; i < count; i++) {
		uint8_t blocks = 0;
		bool continued = false;

		read_ledger(walk, &pool[i]);
		pool[i].uncached_tokens = uncached;
		if (any_match)
			read_holding(walk, pool[i].target->id, &blocks, &continued);
		if (blocks == 0)
			continue;
		hold(walk, &pool[i], blocks, continued);
		pool[i].uncached_tokens -= spared_by_store(walk, reach, pool[i].matched);
	}
}

/* A failing target is charged as if it had more in flight: who answers 500 in a
 * millisecond always has the least. */
static void charge_failures(const struct walk *walk, struct candidate *pool, size_t standing,
                            size_t count)
{
	double running = 0;

	for (size_t i = 0; i < standing; i++)
		running += pool[i].running;
	for (size_t i = 0; i < count; i++)
		pool[i].running_scored +=
		        health_failures(walk->facts->health, pool[i].target->id, walk->now) *
		        (running / (double)standing + newcomer);
}

/* Who is new, or back, counts as busy as the idlest of the others, less and less so:
 * an empty replica would get everything before its first answer tells how it is. */
static void charge_newcomers(const struct walk *walk, struct candidate *pool, size_t standing,
                             size_t count)
{
	const struct health *health = walk->facts->health;
	double least = -1;

	for (size_t i = 0; i < standing; i++) {
		if (health_ramped(health, pool[i].target->id, walk->now) >= 1 &&
		    (least < 0 || pool[i].running < least))
			least = pool[i].running;
	}
	for (size_t i = 0; i < count && least > 0; i++) {
		double left = 1 - health_ramped(health, pool[i].target->id, walk->now);

		pool[i].running_scored += floor(least * left + 0.5);
	}
}

/* The mean weight. */
static double divide_by_weights(struct candidate *pool, size_t standing, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < standing; i++)
		sum += pool[i].replica->weight;
	for (size_t i = 0; i < count; i++) {
		double weight = pool[i].replica->weight;
		double factor;

		if (weight <= 0)
			continue;
		factor = sum / ((double)standing * weight);
		pool[i].running_scored *= factor;
		pool[i].tokens *= factor;
	}
	return sum / (double)standing;
}

/* From loads as they are to loads that compare; the mean weight by which they were divided,
 * or 0. */
static double make_comparable(const struct walk *walk, struct candidate *pool, size_t standing,
                              size_t count, bool weights_differ)
{
	if (standing == 0)
		return 0;
	if (health_any_failures(walk->facts->health, walk->now))
		charge_failures(walk, pool, standing, count);
	if (health_any_ramping(walk->facts->health, walk->now))
		charge_newcomers(walk, pool, standing, count);
	return weights_differ ? divide_by_weights(pool, standing, count) : 0;
}

/* By its replicas that can serve: how many there are, the most that one of them holds of the
 * prompt; and themselves as candidates, as many as there is room for. How many those are. */
static size_t measure_instance(const struct walk *walk, struct candidate *candidate,
                               struct candidate *members, size_t room)
{
	const struct instance *instance = candidate->instance;
	const struct candidate blank = { .instance = instance, .engines = 1 };
	bool any_out = health_any_out(walk->facts->health, walk->now);
	uint16_t engines = 0;
	uint8_t blocks = 0;
	bool continued = false, differ = false;
	size_t count = 0;

	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (!collect_usable(walk, replica) || !replica->up ||
		    (any_out && !health_fit(walk, replica)))
			continue;
		engines++;
		if (walk->scratch->any_match)
			read_holding(walk, replica->target->id, &blocks, &continued);
		if (count == room)
			continue;
		differ |=
		        instance->weights_differ && replica->weight != instance->replicas[0].weight;
		members[count] = blank;
		members[count].target = replica->target;
		members[count++].replica = replica;
	}
	if (walk->scratch->any_match)
		read_holding(walk, candidate->target->id, &blocks, &continued);
	candidate->engines = engines > 0 ? engines : 1;
	read_ledger(walk, candidate);
	share_among_engines(candidate);
	hold(walk, candidate, blocks, continued);
	if (count > 0) {
		measure_replicas(walk, members, count);
		(void)make_comparable(walk, members, count, count, differ);
	}
	return count;
}

static void measure_instances(struct walk *walk)
{
	struct candidate *members = walk->scratch->members;
	size_t room = walk->wants_members ? walk->scratch->room : 0;

	for (size_t i = 0; i < walk->count; i++) {
		struct candidate *candidate = &walk->pool[i];
		size_t count = measure_instance(walk, candidate, members, room);

		if (!walk->wants_members)
			continue;
		candidate->members = members;
		candidate->member_count = (uint16_t)count;
		members += count;
		room -= count;
	}
}

static void run(struct walk *walk)
{
	if (walk->level == 1) {
		measure_instances(walk);
	} else {
		measure_replicas(walk, walk->pool, walk->count);
	}
	walk->weight_mean = make_comparable(walk, walk->pool, walk->standing, walk->count,
	                                    walk->weights_differ);
	if (walk->wants_load)
		load_read(walk);
}

const struct stage stage_measure = {
	.name = "measure",
	.help = "Reads the load of each candidate and how much of the prompt it holds.",
	.run = run,
	.when_empty = { EMPTY_FALLBACK, EMPTY_FALLBACK },
};
