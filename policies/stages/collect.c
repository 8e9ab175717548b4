/* collect.c - the candidates of the rule, or the replicas of the instance.
 *
 * Shuffled, so that no place in the configuration is favoured where candidates
 * are equal. The indices are shuffled, not the candidates: those are large. */
#include "policies/stages/collect.h"

#include <string.h>

#include "policies/core/policy.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

size_t collect_preset_count(const struct walk *walk)
{
	size_t count = walk->rule->instance_count;

	if (count == 0)
		(void)fleet_serving(walk->facts->fleet, walk->model, &count);
	return count;
}

const struct instance *collect_preset(const struct walk *walk, size_t i)
{
	const struct rule *rule = walk->rule;
	size_t count;

	if (rule->instance_count == 0)
		return fleet_serving(walk->facts->fleet, walk->model, &count)[i];
	return fleet_instance_named(
	        walk->facts->fleet,
	        (struct span){ rule->instances[i], strlen(rule->instances[i]) });
}

bool collect_usable(const struct walk *walk, const struct replica *replica)
{
	return replica->usable && (replica->sources & walk->scratch->source);
}

static bool is_banned(const struct scratch *scratch, const struct instance *instance)
{
	for (size_t i = 0; i < scratch->banned_count; i++) {
		if (scratch->banned[i] == instance->target->id)
			return true;
	}
	return false;
}

static void add(struct walk *walk, const struct instance *instance, const struct replica *replica,
                bool stands)
{
	struct candidate *candidate = &walk->pool[walk->count++];

	*candidate = (struct candidate){
		.target = replica ? replica->target : instance->target,
		.instance = instance,
		.replica = replica,
		.engines = 1,
		.dropped_by = stands ? NULL : &stage_collect,
	};
	walk->standing += stands;
}

static void collect_instances(struct walk *walk)
{
	const struct scratch *scratch = walk->scratch;
	size_t count = collect_preset_count(walk);
	bool drained = true; /* all of them: then weights say nothing */
	size_t n = 0;

	count = count < scratch->room ? count : scratch->room;
	for (size_t i = 0; i < count; i++) {
		const struct instance *instance = collect_preset(walk, i);

		if (!instance || is_banned(scratch, instance))
			continue;
		drained = drained && instance->weight <= 0;
		scratch->order[n++] = (uint32_t)i;
	}
	rng_shuffle(walk->rng, scratch->order, n);
	for (size_t i = 0; i < n; i++) {
		const struct instance *instance = collect_preset(walk, scratch->order[i]);

		if (drained || instance->weight > 0)
			add(walk, instance, NULL, true);
	}
	for (size_t i = 0; i < n; i++) {
		const struct instance *instance = collect_preset(walk, scratch->order[i]);

		if (!drained && instance->weight <= 0)
			add(walk, instance, NULL, false);
	}
}

static void collect_replicas(struct walk *walk)
{
	const struct scratch *scratch = walk->scratch;
	const struct instance *instance = walk->instance;
	size_t count = instance->replica_count;
	size_t n = 0;

	count = count < scratch->room ? count : scratch->room;
	for (size_t i = 0; i < count; i++) {
		const struct replica *replica = &instance->replicas[i];

		if (!collect_usable(walk, replica))
			continue;
		scratch->order[n++] = (uint32_t)i;
		walk->some_down |= !replica->up;
		walk->weights_differ |= replica->weight != instance->replicas[0].weight;
		walk->models_known |= replica->models_known;
	}
	rng_shuffle(walk->rng, scratch->order, n);
	for (size_t i = 0; i < n; i++)
		add(walk, instance, &instance->replicas[scratch->order[i]], true);
	for (size_t i = 0; n < count && i < count; i++) {
		if (!collect_usable(walk, &instance->replicas[i]))
			add(walk, instance, &instance->replicas[i], false);
	}
}

static void run(struct walk *walk)
{
	walk->count = walk->standing = 0;
	walk->some_down = walk->level == 1;
	walk->models_known = walk->level == 1;
	walk->weights_differ = false;
	if (walk->level == 1)
		collect_instances(walk);
	else
		collect_replicas(walk);
}

const struct stage stage_collect = {
	.name = "collect",
	.help = "Takes the instances of the rule, or the replicas in service, in random order.",
	.run = run,
	.when_empty = { EMPTY_FALLBACK, EMPTY_NOBODY },
};
