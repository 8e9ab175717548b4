/* ends.c - the fallback services, and whose turn it is when all else failed. */
#include "policies/ends.h"

#include <string.h>

#include "policies/core/policy.h"
#include "policies/stages/admission.h"
#include "policies/stages/affinity.h"
#include "policies/stages/collect.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static struct candidate candidate_of(const struct instance *instance)
{
	return (struct candidate){ .target = instance->target, .instance = instance, .engines = 1 };
}

/* Of this instance alone, under the rule's first entry: fit, and admitted; or, with
 * hard, over no hard limit by a number to be trusted. */
static bool can_take(const struct walk *walk, const struct instance *instance, bool hard)
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
	return hard ? !admission_over_hard(&alone, &candidate)
	            : stage_admission.keep(&alone, &candidate);
}

static const struct instance *fallback_of(const struct walk *walk, bool hard)
{
	for (uint32_t i = 0; i < walk->rule->fallback_count; i++) {
		const char *name = walk->rule->fallbacks[i];
		const struct instance *instance = fleet_instance_named(
		        walk->facts->fleet, (struct span){ name, strlen(name) });

		if (instance && affinity_allows(walk, instance, true) &&
		    can_take(walk, instance, hard))
			return instance;
	}
	return NULL;
}

const struct instance *ends_fallback(const struct walk *walk)
{
	return fallback_of(walk, false);
}

bool ends_fallback_is_over(const struct walk *walk)
{
	return !fallback_of(walk, true);
}

static bool is_fit(const struct walk *walk, const struct instance *instance)
{
	struct candidate candidate = candidate_of(instance);

	return stage_health.keep(walk, &candidate);
}

/* Who takes part in a round. */
struct round {
	bool fit;      /* only who is */
	bool strict;   /* affinity: only strict rules hold */
	bool weighted; /* by service weight, not evenly */
};

static bool takes_part(const struct walk *walk, const struct instance *instance,
                       const struct round *round)
{
	if (!instance || (round->weighted && instance->weight <= 0) ||
	    (round->fit && !is_fit(walk, instance)))
		return false;
	return affinity_allows(walk, instance, round->strict);
}

static const struct instance *next_of(const struct walk *walk, double *turns,
                                      const struct round *round)
{
	const struct instance *next = NULL;
	double total = 0, most = 0;

	for (size_t i = 0; i < collect_preset_count(walk); i++) {
		const struct instance *instance = collect_preset(walk, i);
		double weight, turn;

		if (!takes_part(walk, instance, round))
			continue;
		weight = round->weighted ? instance->weight : 1;
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
	static const struct round rounds[] = {
		{ .fit = true, .weighted = true },
		{ .fit = true, .weighted = true, .strict = true },
		{ .weighted = true, .strict = true },
		{ .strict = true },
	};
	size_t count = sizeof(rounds) / sizeof(rounds[0]);
	const struct instance *next = NULL;

	/* Who is isolated is rather refused than sent to one that is down. */
	if (affinity_is_strict(walk))
		count = 2;
	for (size_t i = 0; i < count && !next; i++)
		next = next_of(walk, turns, &rounds[i]);
	return next;
}
