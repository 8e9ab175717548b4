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

static bool is_banned(const struct scratch *scratch, const struct instance *instance)
{
	for (size_t i = 0; i < scratch->banned_count; i++) {
		if (scratch->banned[i] == instance->target->id)
			return true;
	}
	return false;
}

/* Copied from a blank one: that is quicker than clearing each field by field. */
static void add(struct walk *walk, const struct candidate *blank, struct target *target,
                const struct replica *replica)
{
	struct candidate *candidate = &walk->pool[walk->count++];

	*candidate = *blank;
	candidate->target = target;
	candidate->replica = replica;
}

static void add_instance(struct walk *walk, const struct instance *instance, bool stands)
{
	struct candidate blank = { .instance = instance,
		                   .engines = 1,
		                   .dropped_by = stands ? NULL : &stage_collect };

	add(walk, &blank, instance->target, NULL);
	walk->standing += stands;
}

/* In the order of the shuffle; who has no weight comes last, and stands only where nobody
 * has any: then weights say nothing. Finding one by its name is the dear part. */
static void collect_instances(struct walk *walk)
{
	const struct scratch *scratch = walk->scratch;
	size_t count = collect_preset_count(walk);
	size_t drained = 0;
	bool any;

	count = count < scratch->room ? count : scratch->room;
	for (size_t i = 0; i < count; i++)
		scratch->order[i] = (uint32_t)i;
	rng_shuffle(walk->rng, scratch->order, count);
	for (size_t i = 0; i < count; i++) {
		const struct instance *instance = collect_preset(walk, scratch->order[i]);

		if (!instance || is_banned(scratch, instance))
			continue;
		if (instance->weight > 0)
			add_instance(walk, instance, true);
		else
			scratch->order[drained++] = scratch->order[i];
	}
	any = walk->standing > 0;
	for (size_t i = 0; i < drained; i++)
		add_instance(walk, collect_preset(walk, scratch->order[i]), !any);
}

/* The places of those in service; how many. */
static size_t find_usable(const struct walk *walk, size_t count)
{
	const struct replica *replicas = walk->instance->replicas;
	uint32_t *order = walk->scratch->order;
	uint8_t source = walk->scratch->source;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (replicas[i].usable && (replicas[i].sources & source))
			order[n++] = (uint32_t)i;
	return n;
}

static void collect_replicas(struct walk *walk)
{
	const struct instance *instance = walk->instance;
	const struct replica *replicas = instance->replicas;
	const uint32_t *order = walk->scratch->order;
	size_t room = walk->scratch->room;
	size_t count = instance->replica_count < room ? instance->replica_count : room;
	size_t n = find_usable(walk, count);
	struct candidate blank = { .instance = instance, .engines = 1 };

	rng_shuffle(walk->rng, walk->scratch->order, n);
	for (size_t i = 0; i < n; i++)
		add(walk, &blank, replicas[order[i]].target, &replicas[order[i]]);
	walk->standing = n;
	blank.dropped_by = &stage_collect;
	for (size_t i = 0; n < count && i < count; i++) {
		if (!collect_usable(walk, &replicas[i]))
			add(walk, &blank, replicas[i].target, &replicas[i]);
	}
}

/* Of those that the HAProxy knows that asks. */
static bool weights_differ(const struct walk *walk)
{
	bool differ = false;

	for (size_t i = 0; walk->instance->weights_differ && i < walk->standing; i++)
		differ |= walk->pool[i].replica->weight != walk->instance->replicas[0].weight;
	return differ;
}

static void run(struct walk *walk)
{
	bool all = walk->level == 1;

	walk->count = walk->standing = 0;
	/* What the other stages need not look for. */
	walk->some_down = all || walk->instance->some_down;
	walk->models_known = all || walk->instance->models_known;
	if (all)
		collect_instances(walk);
	else
		collect_replicas(walk);
	walk->weights_differ = !all && weights_differ(walk);
}

const struct stage stage_collect = {
	.name = "collect",
	.help = "Takes the instances of the rule, or the replicas in service, in random order.",
	.run = run,
	.when_empty = { EMPTY_FALLBACK, EMPTY_NOBODY },
};
