/* ends.c - the fallback services, and whose turn it is when all else failed. */
#include "policies/ends.h"

#include <string.h>

#include "policies/core/policy.h"
#include "policies/stages/collect.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static struct candidate candidate_of(const struct instance *instance)
{
	return (struct candidate){ .target = instance->target, .instance = instance, .engines = 1 };
}

static bool admits(const struct walk *walk, const struct instance *instance)
{
	struct candidate candidate = candidate_of(instance);
	struct scratch scratch = *walk->scratch;
	struct walk alone = *walk;
	struct load load;

	scratch.pool = &candidate;
	scratch.loads = &load;
	scratch.room = 1;
	alone.scratch = &scratch;
	alone.pool = &candidate;
	alone.count = alone.standing = 1;
	alone.entry = &walk->rule->chain[0];
	alone.wants_load = true;
	alone.wants_members = false;
	if (!stage_health.keep(&alone, &candidate))
		return false;
	stage_measure.run(&alone);
	return stage_admission.keep(&alone, &candidate);
}

const struct instance *ends_fallback(const struct walk *walk)
{
	for (uint32_t i = 0; i < walk->rule->fallback_count; i++) {
		const char *name = walk->rule->fallbacks[i];
		const struct instance *instance = fleet_instance_named(
		        walk->facts->fleet, (struct span){ name, strlen(name) });

		if (instance && admits(walk, instance))
			return instance;
	}
	return NULL;
}

static bool is_fit(const struct walk *walk, const struct instance *instance)
{
	struct candidate candidate = candidate_of(instance);

	return stage_health.keep(walk, &candidate);
}

/* Over those that are fit (or over all), by weight (or evenly). */
static const struct instance *next_of(const struct walk *walk, double *turns, bool fit,
                                      bool weighted)
{
	const struct instance *next = NULL;
	double total = 0, most = 0;

	for (size_t i = 0; i < collect_preset_count(walk); i++) {
		const struct instance *instance = collect_preset(walk, i);
		double weight, turn;

		if (!instance || (fit && !is_fit(walk, instance)))
			continue;
		weight = weighted ? instance->weight : 1;
		if (weight <= 0)
			continue;
		turn = turns[instance->target->id] + weight;
		total += weight;
		if (!walk->exact)
			turns[instance->target->id] = turn;
		if (!next || turn > most + 1e-9) {
			next = instance;
			most = turn;
		}
	}
	if (next && !walk->exact)
		turns[next->target->id] -= total;
	return next;
}

const struct instance *ends_in_turn(const struct walk *walk, double *turns)
{
	const struct instance *next = next_of(walk, turns, true, true);

	if (!next)
		next = next_of(walk, turns, false, true);
	return next ? next : next_of(walk, turns, false, false);
}
