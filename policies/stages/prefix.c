/* prefix.c - who holds enough of the prompt, and whether that decides.
 *
 * What everybody holds, like a system prompt, is no reason to prefer anybody: a
 * block counts by the share of the others that lack it. From a floor on a target
 * is a hit.
 *
 * Out of a store that the instance's engines share a block counts for less, and for those
 * who do not hold it themselves.
 *
 * Where holders go first (`sole`), three rules keep a hot prefix from burying
 * one of them: a holder whose lead in load outweighs the prefill it saves is
 * passed over; a prompt that several conversations share is computed once on
 * each idle target before anybody is preferred; and if admission drops all
 * holders the others are asked, one of whom then holds it, too. */
#include "policies/core/policy.h"
#include "policies/core/strategy.h"
#include "policies/stages/kv_pool.h"
#include "policies/stages/scratch.h"
#include "policies/stages/spill.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static const double rounding = 1e-9;

/* By number of blocks: what the first ones are worth. */
struct worth {
	double held[LADDER_BLOCKS_MAX + 1];   /* to one who holds them: E */
	double stored[LADDER_BLOCKS_MAX + 1]; /* to one who gets them out of the store */
};

static void worth_by_depth(const struct walk *walk, struct worth *worth)
{
	const struct policy *policy = walk->facts->policy;
	uint32_t deep[LADDER_BLOCKS_MAX + 2] = { 0 }; /* how many hold just so many */
	double others = (double)walk->standing - 1;
	uint32_t holders = 0;

	for (size_t i = 0; i < walk->standing; i++)
		deep[walk->pool[i].blocks]++;
	worth->held[0] = worth->stored[0] = 0;
	holders = (uint32_t)walk->standing - deep[0];
	for (uint32_t i = 0; i < walk->prompt->blocks; i++) {
		double lacking = ((double)walk->standing - holders) / others;

		if (!policy->prefix.discount_shared || others < 1)
			lacking = 1;
		worth->held[i + 1] = worth->held[i] + policy->ladder.length[i] * lacking;
		worth->stored[i + 1] = worth->stored[i] + KV_POOL_SHARE * policy->ladder.length[i] *
		                                                  (lacking < 1 ? lacking : 1);
		holders -= deep[i + 1];
	}
}

static double floor_of(const struct walk *walk)
{
	const struct prefix_policy *prefix = &walk->facts->policy->prefix;
	double share = prefix->min_match_share * (double)walk->prompt->total_bytes;

	return prefix->min_match > share ? prefix->min_match : share;
}

/* Sets E and hit of all; the largest E among the hits, 0 when there is none. */
static double find_hits(struct walk *walk)
{
	uint32_t stored =
	        walk->level == 2 && walk->instance ? kv_pool_blocks(walk, walk->instance) : 0;
	struct worth worth;
	double least = floor_of(walk);
	double most = 0;

	worth_by_depth(walk, &worth);
	for (size_t i = 0; i < walk->standing; i++) {
		struct candidate *candidate = &walk->pool[i];

		candidate->effective = worth.held[candidate->blocks];
		if (stored > candidate->blocks)
			candidate->effective +=
			        worth.stored[stored] - worth.stored[candidate->blocks];
		candidate->hit =
		        candidate->effective > 0 && candidate->effective >= least - rounding;
		if (candidate->hit && candidate->effective > most)
			most = candidate->effective;
	}
	walk->any_hit = most > 0;
	return most;
}

static bool holds(const struct candidate *candidate, double enough)
{
	return candidate->hit && candidate->effective >= enough - rounding;
}

/* A session whose own context is with nobody who holds this: it shares it with others. */
static bool is_stranger(const struct walk *walk, double enough)
{
	switch (walk->session.result) {
	case SESSION_NONE:
	case SESSION_UNNAMED:
		return false;
	case SESSION_NEW:
	case SESSION_GONE:
		return true;
	case SESSION_PINNED:
	case SESSION_NAMED:
	case SESSION_RESULT_COUNT:
		break;
	}
	for (size_t i = 0; i < walk->standing; i++)
		if (walk->pool[i].target->id == walk->session.target)
			return !holds(&walk->pool[i], enough);
	return true;
}

/* Others went on from the deepest match, and so does this request, elsewhere. */
static bool is_shared(const struct walk *walk, double enough)
{
	uint32_t deepest = 0;
	bool continued = false;

	for (size_t i = 0; i < walk->standing; i++) {
		const struct candidate *candidate = &walk->pool[i];

		if (!holds(candidate, enough) || candidate->blocks < deepest)
			continue;
		continued = (candidate->blocks == deepest && continued) || candidate->continued;
		deepest = candidate->blocks;
	}
	return is_stranger(walk, enough) || (continued && walk->prompt->blocks > deepest);
}

/* Idle, and not because it is new. */
static bool can_be_seeded(const struct walk *walk, const struct candidate *candidate, double enough)
{
	return !holds(candidate, enough) && candidate->running < rounding &&
	       health_ramped(walk->facts->health, candidate->target->id, walk->now) >= 1;
}

/* Only the idle who lack it, if there are any. */
static bool seed(struct walk *walk, double enough)
{
	bool any = false;

	for (size_t i = 0; i < walk->standing && !any; i++)
		any = can_be_seeded(walk, &walk->pool[i], enough);
	if (!any || !is_shared(walk, enough))
		return false;
	for (size_t i = walk->standing; i-- > 0;) {
		if (!can_be_seeded(walk, &walk->pool[i], enough))
			walk_drop(walk, i, &stage_prefix);
	}
	walk->seeding = true;
	return true;
}

static bool holds_enough(const struct candidate *candidate, const void *data)
{
	return holds(candidate, *(const double *)data);
}

static void keep_holders(struct walk *walk, double enough)
{
	struct spill_bar bar = spill_bar_of(walk, holds_enough, &enough);

	for (size_t i = walk->standing; i-- > 0;) {
		struct candidate *candidate = &walk->pool[i];

		candidate->spilled =
		        holds(candidate, enough) && spill_over(walk, candidate, &bar, 0);
		if (!holds(candidate, enough) || candidate->spilled)
			walk_drop(walk, i, &stage_prefix);
	}
}

static void run(struct walk *walk)
{
	double share = walk->facts->policy->prefix.hold_share;
	double most, enough;

	if (walk->prompt->blocks == 0 || !walk->scratch->any_match)
		return;
	most = find_hits(walk);
	if (!walk->any_hit || walk->entry->strategy->prefix != PREFIX_SOLE)
		return;
	walk->narrowed = true;
	enough = share * most > floor_of(walk) ? share * most : floor_of(walk);
	if (!walk->entry->seed_idle || !seed(walk, enough))
		keep_holders(walk, enough);
}

const struct stage stage_prefix = {
	.name = "prefix",
	.help = "Finds who holds the prompt; where the strategy says so, drops all others.",
	.run = run,
	.when_empty = { EMPTY_SPILL, EMPTY_SPILL },
};
