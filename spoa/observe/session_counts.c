/* session_counts.c - one row of counts per source, by target id. */
#include "spoa/observe/session_counts.h"

#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/feedback.h"
#include "spoa/observe/rank_counts.h"

struct session_counts {
	uint32_t targets, sources;
	bool fresh[SOURCES_MAX];
	struct session_count *of; /* sources x targets */
	uint32_t *sums, *scratch; /* by target id */
};

struct session_counts *session_counts_new(uint32_t targets, uint32_t sources)
{
	struct session_counts *counts;

	BUG_ON(targets == 0 || sources == 0 || sources > SOURCES_MAX);
	counts = calloc(1, sizeof(*counts));
	if (!counts)
		return NULL;
	counts->targets = targets;
	counts->sources = sources;
	counts->of = calloc((size_t)targets * sources, sizeof(*counts->of));
	counts->sums = calloc(targets, sizeof(*counts->sums));
	counts->scratch = calloc(targets, sizeof(*counts->scratch));
	if (!counts->of || !counts->sums || !counts->scratch) {
		session_counts_free(counts);
		return NULL;
	}
	return counts;
}

void session_counts_free(struct session_counts *counts)
{
	if (!counts)
		return;
	free(counts->of);
	free(counts->sums);
	free(counts->scratch);
	free(counts);
}

static struct session_count *at(const struct session_counts *counts, uint32_t source,
                                uint32_t target)
{
	BUG_ON(source >= counts->sources || target >= counts->targets);
	return &counts->of[(size_t)source * counts->targets + target];
}

void session_counts_begin(struct session_counts *counts, uint32_t source)
{
	memset(at(counts, source, 0), 0, counts->targets * sizeof(*counts->of));
	counts->fresh[source] = false;
}

void session_counts_add(struct session_counts *counts, uint32_t source, uint32_t target,
                        const struct session_count *seen)
{
	struct session_count *count = at(counts, source, target);

	count->current += seen->current;
	count->queued += seen->queued;
	count->waiting += seen->waiting;
}

void session_counts_done(struct session_counts *counts, uint32_t source)
{
	counts->fresh[source] = true;
}

void session_counts_lost(struct session_counts *counts, uint32_t source)
{
	counts->fresh[source] = false;
}

void session_counts_forget(struct session_counts *counts, uint32_t target)
{
	for (uint32_t source = 0; source < counts->sources; source++)
		*at(counts, source, target) = (struct session_count){ 0 };
}

static struct session_count sum_at(const struct session_counts *counts, uint32_t target)
{
	struct session_count sum = { 0 };

	for (uint32_t source = 0; source < counts->sources; source++) {
		const struct session_count *count = at(counts, source, target);

		sum.current += count->current;
		sum.queued += count->queued;
		sum.waiting += count->waiting;
	}
	return sum;
}

static void put(struct session_counts *counts, struct facts *facts, uint32_t target,
                const struct session_count *sum, usec_t now)
{
	counts->sums[target] = sum->waiting > 0 ? COUNT_UNKNOWN : sum->current;
	ledger_reconcile(facts->ledger, target, sum->current, now);
	engines_put_queue(facts->engines, target, sum->queued, now);
}

static void apply_one(struct session_counts *counts, struct facts *facts, uint32_t target,
                      usec_t now)
{
	struct session_count sum = sum_at(counts, target);

	sum.current += sum.queued;
	put(counts, facts, target, &sum, now);
}

/* HAProxy counts for the server, and we for each of its ranks. */
static void apply_ranks(struct session_counts *counts, struct facts *facts,
                        const struct instance *instance, const struct replica *first, usec_t now)
{
	uint32_t ranks = first->target->ranks, ours[RANKS_MAX] = { 0 }, counted[RANKS_MAX], target;
	struct session_count all = { 0 };

	BUG_ON(ranks > RANKS_MAX);
	for (uint32_t i = 0; i < ranks; i++) {
		const struct replica *rank = fleet_replica_rank(facts->fleet, instance, first, i);
		struct session_count sum;

		if (!rank)
			return; /* it comes with the next snapshot */
		target = rank->target->id;
		sum = sum_at(counts, target);
		all.current += sum.current + sum.queued;
		all.queued += sum.queued;
		all.waiting += sum.waiting;
		ours[i] = ledger_seen(facts->ledger, target, now);
	}
	rank_counts(ours, ranks, all.current, counted);
	for (uint32_t i = 0; i < ranks; i++) {
		struct session_count sum = { counted[i],
			                     all.queued / ranks + (i < all.queued % ranks),
			                     all.waiting };

		target = fleet_replica_rank(facts->fleet, instance, first, i)->target->id;
		put(counts, facts, target, &sum, now);
	}
}

/* Ranks of the instance's servers: each server once, though other instances list it, too. */
static void apply_ranks_of(struct session_counts *counts, struct facts *facts,
                           const struct instance *instance, usec_t now)
{
	for (uint32_t i = 0; i < instance->replica_count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (replica->target->ranks > 0 && replica->target->rank == 0 &&
		    !ledger_reconciled(facts->ledger, replica->target->id, now, 0))
			apply_ranks(counts, facts, instance, replica, now);
	}
}

/* Requests that wait in the backend, for any of its servers: each server tells them. */
static void apply_waiting(const struct session_counts *counts, struct facts *facts,
                          const struct instance *instance, usec_t now)
{
	uint32_t waiting = 0;

	for (uint32_t source = 0; source < counts->sources; source++) {
		uint32_t most = 0;

		for (uint32_t i = 0; i < instance->replica_count; i++) {
			uint32_t told =
			        at(counts, source, instance->replicas[i].target->id)->waiting;

			most = told > most ? told : most;
		}
		waiting += most;
	}
	engines_put_queue(facts->engines, instance->target->id, waiting, now);
}

bool session_counts_apply(struct session_counts *counts, struct facts *facts, usec_t now,
                          uint32_t *ret_missing)
{
	for (uint32_t source = 0; source < counts->sources; source++)
		if (!counts->fresh[source])
			return false;
	for (uint32_t id = 0; id < counts->targets; id++) {
		const struct target *target = fleet_target(facts->fleet, id);

		counts->sums[id] = COUNT_UNKNOWN;
		if (target && target->kind == TARGET_REPLICA && target->ranks == 0)
			apply_one(counts, facts, id, now);
	}
	for (size_t i = 0; i < fleet_instance_count(facts->fleet); i++)
		apply_ranks_of(counts, facts, fleet_instance_at(facts->fleet, i), now);
	for (size_t i = 0; i < fleet_instance_count(facts->fleet); i++)
		apply_waiting(counts, facts, fleet_instance_at(facts->fleet, i), now);
	*ret_missing = feedback_missing(facts, counts->sums, counts->scratch, counts->targets, now);
	memset(counts->fresh, 0, sizeof(counts->fresh));
	return true;
}
