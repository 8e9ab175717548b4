/* measure.c - what each candidate bears, and how much of the prompt it holds.
 *
 * Loads are compared after division by the relative weight, and with a penalty
 * for failures; both are relative to those standing, so they are worked out once
 * a level, before anything is compared. */
#include "policies/core/policy.h"
#include "policies/stages/collect.h"
#include "policies/stages/health.h"
#include "policies/stages/load.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static const double resident_share = 0.3; /* of a resident token in `tokens` */
static const double newcomer = 10;        /* requests that a failing idle target is charged */

static void hold(const struct walk *walk, struct candidate *candidate, uint32_t blocks,
                 bool continued)
{
	const struct ladder *ladder = &walk->facts->policy->ladder;
	const struct prompt *prompt = walk->prompt;

	candidate->blocks = blocks;
	candidate->continued = continued;
	candidate->matched = ladder_reach(ladder, blocks);
	candidate->share = blocks > 0 ? candidate->matched / (double)prompt->total_bytes : 0;
	candidate->uncached_tokens =
	        ((double)prompt->total_bytes - candidate->matched) * walk->scratch->tokens_per_byte;
}

static void read_holding(const struct walk *walk, uint32_t target, uint32_t *blocks,
                         bool *continued)
{
	const struct holding *holding = &walk->scratch->holdings[target];

	if (holding->stamp != walk->scratch->stamp || holding->blocks < *blocks)
		return;
	*continued =
	        holding->blocks > *blocks ? holding->continued : *continued || holding->continued;
	*blocks = holding->blocks;
}

static void read_ledger(const struct walk *walk, struct candidate *candidate)
{
	struct ledger *ledger = walk->facts->ledger;
	uint32_t id = candidate->target->id;
	struct work work = ledger_work(ledger, id, walk->now);
	double engines = candidate->engines;

	candidate->own = work.running;
	candidate->running = ledger_running(ledger, id, walk->now);
	candidate->prefill_tokens = (double)work.prefill_tokens;
	candidate->tokens =
	        candidate->prefill_tokens + resident_share * (double)work.resident_tokens;
	candidate->failures = health_failures(walk->facts->health, id, walk->now);
	if (engines > 1) {
		candidate->running /= engines;
		candidate->prefill_tokens /= engines;
		candidate->tokens /= engines;
	}
}

static void measure_replica(const struct walk *walk, struct candidate *candidate)
{
	uint32_t blocks = 0;
	bool continued = false;

	read_ledger(walk, candidate);
	if (walk->scratch->any_match)
		read_holding(walk, candidate->target->id, &blocks, &continued);
	hold(walk, candidate, blocks, continued);
}

/* Divide by the relative weight, charge for failures. */
static void weigh(struct candidate *pool, size_t standing, size_t count)
{
	double weights = 0, running = 0;

	for (size_t i = 0; i < standing; i++) {
		weights += pool[i].replica ? pool[i].replica->weight : 1;
		running += pool[i].running;
	}
	for (size_t i = 0; i < count; i++) {
		struct candidate *candidate = &pool[i];
		double weight = candidate->replica ? candidate->replica->weight : 1;
		double load = candidate->running;

		if (candidate->failures > 0)
			load += candidate->failures * (running / (double)standing + newcomer);
		candidate->running_scored = load;
		if (weight <= 0 || weight * (double)standing == weights)
			continue;
		candidate->running_scored *= weights / (weight * (double)standing);
		candidate->tokens *= weights / (weight * (double)standing);
	}
}

/* The replicas of an instance that can serve, as candidates of their own. */
static size_t gather_members(const struct walk *walk, const struct instance *instance,
                             struct candidate *members, size_t room)
{
	size_t count = 0;

	for (uint32_t i = 0; i < instance->replica_count && count < room; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (!collect_usable(walk, replica) || !health_fit(walk, replica))
			continue;
		members[count] = (struct candidate){ .target = replica->target,
			                             .instance = instance,
			                             .replica = replica,
			                             .engines = 1 };
		measure_replica(walk, &members[count++]);
	}
	weigh(members, count, count);
	return count;
}

/* Usable replicas, and the most that one of them holds of the prompt. */
static void measure_instance(const struct walk *walk, struct candidate *candidate)
{
	const struct instance *instance = candidate->instance;
	uint32_t blocks = 0, engines = 0;
	bool continued = false;

	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (!collect_usable(walk, replica) || !health_fit(walk, replica))
			continue;
		engines++;
		if (walk->scratch->any_match)
			read_holding(walk, replica->target->id, &blocks, &continued);
	}
	if (walk->scratch->any_match)
		read_holding(walk, candidate->target->id, &blocks, &continued);
	candidate->engines = engines > 0 ? engines : 1;
	read_ledger(walk, candidate);
	hold(walk, candidate, blocks, continued);
}

static void measure_instances(struct walk *walk)
{
	struct candidate *members = walk->scratch->members;
	size_t room = walk->scratch->room;

	for (size_t i = 0; i < walk->count; i++) {
		struct candidate *candidate = &walk->pool[i];
		size_t count;

		measure_instance(walk, candidate);
		if (!walk->wants_members)
			continue;
		count = gather_members(walk, candidate->instance, members, room);
		candidate->members = members;
		candidate->member_count = (uint32_t)count;
		members += count;
		room -= count;
	}
}

static void run(struct walk *walk)
{
	if (walk->level == 1) {
		measure_instances(walk);
	} else {
		for (size_t i = 0; i < walk->count; i++)
			measure_replica(walk, &walk->pool[i]);
	}
	weigh(walk->pool, walk->standing, walk->count);
	if (walk->wants_load)
		load_read(walk);
}

const struct stage stage_measure = {
	.name = "measure",
	.help = "Reads the load of each candidate and how much of the prompt it holds.",
	.run = run,
	.when_empty = { EMPTY_FALLBACK, EMPTY_FALLBACK },
};
