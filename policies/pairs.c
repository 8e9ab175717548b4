/* pairs.c - the choice of a prefill and a decode replica, in one step.
 *
 * Whether the prompt is computed elsewhere is decided by the bytes that the decode
 * replica lacks, never by a score: moving a KV cache costs the same however good the
 * other end looks. And decode replicas are never taken from a roleset that has nobody
 * to prefill, but where they need nobody. */
#include "policies/pairs.h"

#include <math.h>

#include "policies/core/policy.h"
#include "policies/phases.h"
#include "policies/signals/signals.h"
#include "policies/stages/scratch.h"
#include "policies/state/counters.h"
#include "policies/state/facts.h"

static const double epsilon = 1e-9;
static const usec_t page_life =
        60 * SECOND; /* how many sequences there are changes with a restart */
static const double infinity = (double)INFINITY; /* the macro is a float */

/* A run of the pool: those of one role. */
struct group {
	struct candidate *at;
	size_t count;
	double most; /* finite cost; 0 if there is none */
};

struct choice {
	struct walk *walk;
	const struct pair_policy *policy;
	struct group decode, prefill, combined; /* in this order in the pool */
};

/* The best so far: the least cost, then who was chosen least recently. */
struct best {
	struct candidate *candidate;
	double cost;
};

static void offer(struct best *best, struct candidate *candidate, double cost)
{
	if (best->candidate && (cost > best->cost + epsilon ||
	                        (cost >= best->cost - epsilon &&
	                         candidate->target->chosen >= best->candidate->target->chosen)))
		return;
	*best = (struct best){ candidate, cost };
}

static void swap(struct candidate *a, struct candidate *b)
{
	struct candidate kept = *a;

	*a = *b;
	*b = kept;
}

/* Those of a role come next in the pool. */
static struct group gather(struct walk *walk, size_t from, enum role role)
{
	struct group group = { .at = &walk->pool[from] };

	for (size_t i = from; i < walk->standing; i++) {
		if (walk->pool[i].replica->role != role)
			continue;
		if (i != from + group.count)
			swap(&walk->pool[i], &walk->pool[from + group.count]);
		group.count++;
	}
	return group;
}

static void price(const struct walk *walk, struct group *group, const struct phase_policy *phase,
                  double spread)
{
	struct walk part = *walk;

	part.pool = group->at;
	part.count = part.standing = group->count;
	if (group->count > 0)
		phase_costs(&part, phase, spread);
	for (size_t i = 0; i < group->count; i++) {
		double cost = group->at[i].score;

		if (cost < infinity && cost > group->most)
			group->most = cost;
	}
}

/* Its cost against the most of its group: 0..1, or 2 where that is not to be had. */
static double part_of(const struct group *group, const struct candidate *candidate)
{
	if (candidate->score >= infinity)
		return 2;
	return group->most > 0 ? candidate->score / group->most : 0;
}

static double lacking(const struct walk *walk, const struct candidate *candidate)
{
	return (double)walk->prompt->total_bytes - candidate->matched;
}

static bool lacks_little(const struct choice *choice, const struct candidate *candidate)
{
	return lacking(choice->walk, candidate) < choice->policy->remote_min_bytes;
}

static struct candidate *best_decode(const struct choice *choice)
{
	struct best best = { NULL, 0 };

	for (size_t i = 0; i < choice->decode.count; i++)
		offer(&best, &choice->decode.at[i], choice->decode.at[i].score);
	return best.candidate;
}

/* Places in group prefill by roleset, 0 is none: of each the best one. */
static void list_prefills(const struct choice *choice, uint32_t *ret_places)
{
	const struct group *prefill = &choice->prefill;

	for (size_t i = 0; i < choice->decode.count; i++)
		ret_places[choice->decode.at[i].replica->roleset] = 0;
	for (size_t i = 0; i < prefill->count; i++)
		ret_places[prefill->at[i].replica->roleset] = 0;
	for (size_t i = 0; i < prefill->count; i++) {
		uint32_t *place = &ret_places[prefill->at[i].replica->roleset];
		struct best best = { NULL, 0 };

		if (*place > 0)
			best = (struct best){ &prefill->at[*place - 1],
				              prefill->at[*place - 1].score };
		offer(&best, &prefill->at[i], prefill->at[i].score);
		*place = (uint32_t)(best.candidate - prefill->at) + 1;
	}
}

/* NULL: no roleset is complete. */
static struct candidate *best_pair(const struct choice *choice, struct candidate **ret_prefill)
{
	uint32_t *places = choice->walk->scratch->order;
	struct best best = { NULL, 0 };

	list_prefills(choice, places);
	for (size_t i = 0; i < choice->decode.count; i++) {
		struct candidate *decode = &choice->decode.at[i];
		uint32_t place = places[decode->replica->roleset];

		if (place == 0)
			continue;
		offer(&best, decode,
		      part_of(&choice->decode, decode) +
		              part_of(&choice->prefill, &choice->prefill.at[place - 1]));
	}
	if (best.candidate)
		*ret_prefill = &choice->prefill.at[places[best.candidate->replica->roleset] - 1];
	return best.candidate;
}

/* How full it is: 1 = all its slots are taken. Negative: how many it has is not known. */
static double filled(const struct walk *walk, const struct candidate *candidate)
{
	const struct replica *replica = candidate->replica;
	double slots = replica->policy ? replica->policy->slots : 0;
	const struct engine_page *page =
	        engines_page(walk->facts->engines, candidate->target->id, walk->now, page_life);

	if (slots <= 0 && page)
		slots = page->max_sequences;
	if (slots <= 0)
		slots = replica->max_running;
	return slots > 0 ? candidate->running_scored / slots : -1;
}

static double work_of(const struct walk *walk, const struct candidate *candidate)
{
	double work = 0;

	(void)signal_work.read(walk, candidate, &work);
	return work;
}

/* The combined replica with the least work, of those filled less than that (negative: of
 * all); NULL if there is none. */
static struct candidate *best_combined(const struct choice *choice, double below)
{
	struct best best = { NULL, 0 };

	for (size_t i = 0; i < choice->combined.count; i++) {
		struct candidate *candidate = &choice->combined.at[i];
		double share = filled(choice->walk, candidate);

		if (below < 0 || (share >= 0 && share < below - epsilon))
			offer(&best, candidate, work_of(choice->walk, candidate));
	}
	return best.candidate;
}

/* Instead of a pair that has more to do than it can. */
static struct candidate *relief(const struct choice *choice, const struct candidate *decode,
                                const struct candidate *prefill)
{
	double above = choice->policy->combined_above;

	if (choice->combined.count == 0 || above <= 0 ||
	    (filled(choice->walk, decode) <= above + epsilon &&
	     (!prefill || filled(choice->walk, prefill) <= above + epsilon)))
		return NULL;
	return best_combined(choice, choice->policy->combined_below);
}

static void grade(const struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		struct candidate *candidate = &group->at[i];
		double part = part_of(group, candidate);

		candidate->score = candidate->graded = part > 1 ? 0 : 1 - part;
	}
}

static bool settle(const struct choice *choice, const struct candidate *chosen,
                   const struct candidate *prefill, enum pair_kind kind,
                   struct level_trace *ret_trace)
{
	if (!chosen)
		return false;
	ret_trace->chosen = (size_t)(chosen - choice->walk->pool);
	ret_trace->prefill = prefill;
	ret_trace->pair = kind;
	grade(&choice->decode);
	grade(&choice->prefill);
	for (size_t i = 0; i < choice->combined.count; i++)
		choice->combined.at[i].score = choice->combined.at[i].graded = 1;
	return true;
}

static bool choose(const struct choice *choice, struct level_trace *ret_trace)
{
	struct candidate *decode = best_decode(choice), *prefill = NULL, *combined;
	enum pair_kind kind = PAIR_LOCAL;
	struct candidate *alone = decode;

	if (!decode || !lacks_little(choice, decode)) {
		decode = best_pair(choice, &prefill);
		kind = PAIR_REMOTE;
	}
	if (!decode) {
		combined = best_combined(choice, -1);
		if (combined || !choice->policy->alone)
			return settle(choice, combined, NULL, PAIR_COMBINED, ret_trace);
		return settle(choice, alone, NULL, PAIR_ALONE, ret_trace);
	}
	if (prefill && lacks_little(choice, decode)) {
		prefill = NULL;
		kind = PAIR_LOCAL;
	}
	combined = relief(choice, decode, prefill);
	if (combined)
		return settle(choice, combined, NULL, PAIR_COMBINED, ret_trace);
	return settle(choice, decode, prefill, kind, ret_trace);
}

bool pairs_choose(struct walk *walk, struct level_trace *ret_trace)
{
	struct choice choice = { .walk = walk, .policy = &walk->entry->pair };
	const struct pair_policy *policy = choice.policy;

	choice.decode = gather(walk, 0, ROLE_DECODE);
	choice.prefill = gather(walk, choice.decode.count, ROLE_PREFILL);
	choice.combined = gather(walk, choice.decode.count + choice.prefill.count, ROLE_COMBINED);
	price(walk, &choice.decode, &policy->decode, policy->spread);
	price(walk, &choice.prefill, &policy->prefill, policy->spread);
	return choose(&choice, ret_trace);
}
