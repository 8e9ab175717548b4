/* session_counts.c - one row of counts per source, by target id. */
#include "spoa/observe/session_counts.h"

#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/feedback.h"

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

static void apply_one(struct session_counts *counts, struct facts *facts, uint32_t target,
                      usec_t now)
{
	struct session_count sum = { 0 };

	for (uint32_t source = 0; source < counts->sources; source++) {
		const struct session_count *count = at(counts, source, target);

		sum.current += count->current;
		sum.queued += count->queued;
		sum.waiting += count->waiting;
	}
	counts->sums[target] = sum.waiting > 0 ? COUNT_UNKNOWN : sum.current + sum.queued;
	ledger_reconcile(facts->ledger, target, sum.current + sum.queued, now);
	engines_put_queue(facts->engines, target, sum.queued, now);
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
		if (target && target->kind == TARGET_REPLICA)
			apply_one(counts, facts, id, now);
	}
	for (size_t i = 0; i < fleet_instance_count(facts->fleet); i++)
		apply_waiting(counts, facts, fleet_instance_at(facts->fleet, i), now);
	*ret_missing = feedback_missing(facts, counts->sums, counts->scratch, counts->targets, now);
	memset(counts->fresh, 0, sizeof(counts->fresh));
	return true;
}
