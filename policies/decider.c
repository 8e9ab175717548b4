/* decider.c - memory for walks over as many targets as the fleet can have. */
#include "policies/decider.h"

#include <stdlib.h>

#include "policies/core/bug.h"

static bool is_whole(const struct decider *decider)
{
	const struct scratch *instances = &decider->levels[0];
	const struct scratch *replicas = &decider->levels[1];

	return instances->pool && instances->loads && instances->members && instances->order &&
	       instances->values && instances->sorted && replicas->pool && replicas->loads &&
	       decider->holdings && decider->matches && decider->latched && decider->turns;
}

struct decider *decider_new(struct facts *facts, uint64_t seed)
{
	struct decider *decider = calloc(1, sizeof(*decider));
	struct scratch *instances, *replicas;
	uint32_t targets = fleet_targets_max(facts->fleet);

	if (!decider)
		return NULL;
	decider->facts = facts;
	decider->rng.state = seed;
	decider->targets = targets;
	decider->holdings = calloc(targets, sizeof(*decider->holdings));
	decider->matches = calloc(targets, sizeof(*decider->matches));
	decider->latched = calloc(targets + RULES_LATCHED, sizeof(*decider->latched));
	decider->turns = calloc(targets, sizeof(*decider->turns));
	instances = &decider->levels[0];
	instances->room = targets;
	instances->holdings = decider->holdings;
	instances->order = calloc(targets, sizeof(*instances->order));
	instances->values = calloc(targets, sizeof(*instances->values));
	instances->sorted = calloc(targets, sizeof(*instances->sorted));
	replicas = &decider->levels[1];
	*replicas = *instances;
	instances->pool = calloc(targets, sizeof(*instances->pool));
	instances->loads = calloc(targets, sizeof(*instances->loads));
	instances->members = calloc(targets, sizeof(*instances->members));
	replicas->pool = calloc(targets, sizeof(*replicas->pool));
	replicas->loads = calloc(targets, sizeof(*replicas->loads));
	if (is_whole(decider))
		return decider;
	decider_free(decider);
	return NULL;
}

void decider_free(struct decider *decider)
{
	if (!decider)
		return;
	free(decider->levels[1].loads);
	free(decider->levels[1].pool);
	free(decider->levels[0].members);
	free(decider->levels[0].loads);
	free(decider->levels[0].pool);
	free(decider->levels[0].sorted);
	free(decider->levels[0].values);
	free(decider->levels[0].order);
	free(decider->turns);
	free(decider->latched);
	free(decider->matches);
	free(decider->holdings);
	free(decider);
}

/* The stamp makes older answers void without touching them, until it wraps. */
static void renew(struct decider *decider)
{
	if (++decider->stamp != 0)
		return;
	for (uint32_t i = 0; i < decider->targets; i++)
		decider->holdings[i].stamp = 0;
	decider->stamp = 1;
}

void decider_match(struct decider *decider, usec_t now)
{
	const struct prompt *prompt = &decider->prompt;
	size_t count = 0;

	renew(decider);
	if (prompt->blocks > 0)
		count = prefix_index_match(decider->facts->prefix, prompt->chain, prompt->blocks,
		                           now, decider->matches, decider->targets);
	for (size_t i = 0; i < count; i++) {
		const struct prefix_match *match = &decider->matches[i];

		BUG_ON(match->holder >= decider->targets || match->blocks > prompt->blocks);
		decider->holdings[match->holder] = (struct holding){
			.stamp = decider->stamp,
			.blocks = (uint8_t)match->blocks,
			.continued = match->continued,
		};
	}
	for (size_t level = 0; level < 2; level++) {
		decider->levels[level].stamp = decider->stamp;
		decider->levels[level].any_match = count > 0;
		decider->levels[level].tokens_per_byte =
		        1 / decider->facts->policy->bytes_per_token;
	}
}
