/* adapter.c - keep the few replicas that a LoRA adapter is spread over.
 *
 * An engine has room for a few adapters; if each may be asked for everywhere, engines spend their
 * time loading them. So an adapter has an order of replicas of its own, by rendezvous hashing
 * of its name, and goes to the first so many of them. Agents that see the same replicas agree on
 * the order without a word, and as a short list is the beginning of a longer one they use the
 * same replicas even where they do not agree how many:
 *
 *     wanted = ceil(heat x all / own / max(all / n, lora.requests))
 *
 * heat: the adapter's requests in flight by our own count, or what is left of their peak; all, own:
 * requests in flight on the n candidates, and those of them that we sent. Both count this one. So
 * an adapter with a third of the load gets a third of the replicas, and a cold one gets one.
 *
 * Whose slots are all taken by adapters in use is passed over for the next that has room, or has
 * the adapter already: an order by hashes alone gives some engines more than they can hold.
 *
 * When all of these are too busy beside the idlest other (policies/stages/spill.h), one more
 * is asked: who has the adapter already, or else room for it. Who has more of the conversation
 * than they, or the session, and the adapter still, stands as well: what he saves is worth more
 * than a slot.
 *
 * Of instances the first in order stand that have so many engines together. Where pairs are
 * made there are as many of each role. */
#include <math.h>

#include "policies/stages/scratch.h"
#include "policies/stages/session.h"
#include "policies/stages/spill.h"
#include "policies/stages/stages.h"
#include "policies/state/lora_look.h"
#include "policies/state/session_id.h"

static const double rounding = 1e-9;

static const char *name_of(const struct walk *walk)
{
	return fleet_model_name(walk->facts->fleet, walk->model);
}

/* The candidates, the first in order on top: a heap of their places, by scratch->values. */
struct line {
	const double *weights;
	uint32_t *heap;
	size_t left;
};

static void sink(struct line *line, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		uint32_t kept = line->heap[at];

		if (child >= line->left)
			return;
		if (child + 1 < line->left &&
		    line->weights[line->heap[child + 1]] > line->weights[line->heap[child]])
			child++;
		if (line->weights[kept] >= line->weights[line->heap[child]])
			return;
		line->heap[at] = line->heap[child];
		line->heap[child] = kept;
		at = child;
	}
}

static struct line line_up(const struct walk *walk)
{
	const char *name = name_of(walk);
	struct line line = { walk->scratch->values, walk->scratch->order, walk->standing };
	struct rendezvous rendezvous;

	rendezvous_begin(&rendezvous, (struct span){ name, __builtin_strlen(name) });
	for (size_t i = 0; i < walk->standing; i++) {
		const char *address = walk->pool[i].target->label;

		walk->scratch->values[i] = (double)(rendezvous_weight(&rendezvous, address) >> 11);
		line.heap[i] = (uint32_t)i;
	}
	for (size_t i = line.left / 2; i-- > 0;)
		sink(&line, i);
	return line;
}

/* Those who came before lie behind who is left, the last one first. */
static uint32_t next_in(struct line *line)
{
	uint32_t first = line->heap[0];

	line->heap[0] = line->heap[--line->left];
	line->heap[line->left] = first;
	sink(line, 0);
	return first;
}

/* How many engines the adapter should have, at least 1. */
static uint32_t wanted(const struct walk *walk, double heat)
{
	const struct lora_policy *policy = &walk->facts->policy->lora;
	double all = 1, own = 1, engines = 0, each, count;

	for (size_t i = 0; i < walk->standing; i++) {
		all += walk->pool[i].running * walk->pool[i].engines;
		own += walk->pool[i].own;
		engines += walk->pool[i].engines;
	}
	each = fmax(all / engines, policy->requests);
	count = ceil(heat * fmax(all / own, 1) / fmax(each, rounding) - rounding);
	if (policy->max_replicas > 0)
		count = fmin(count, policy->max_replicas);
	return (uint32_t)fmax(fmin(count, engines), 1);
}

static size_t role_of(const struct walk *walk, const struct candidate *candidate)
{
	return walk->wants_pairs && candidate->replica ? candidate->replica->role : 0;
}

static bool is_marked(const struct candidate *candidate, const void *data)
{
	const struct walk *walk = data;

	return walk->scratch->sorted[candidate - walk->pool] > 0;
}

static enum lora_room room_at(const struct walk *walk, const struct candidate *candidate)
{
	return lora_room(walk->facts, candidate->target->id, walk->adapter.id, walk->now);
}

/* Unless there are enough of its role. */
static void mark(const struct walk *walk, uint32_t place, uint32_t engines[ROLE_COUNT])
{
	const struct candidate *candidate = &walk->pool[place];
	size_t role = role_of(walk, candidate);

	if (is_marked(candidate, walk) || engines[role] >= walk->adapter.wanted)
		return;
	engines[role] += candidate->engines;
	walk->scratch->sorted[place] = 1;
}

/* The first in order, of each role until there are enough engines; who has no room for the
 * adapter only where there are too few others. */
static void mark_first(const struct walk *walk, struct line *line)
{
	uint32_t engines[ROLE_COUNT] = { 0 };

	for (size_t i = 0; i < walk->standing; i++)
		walk->scratch->sorted[i] = 0;
	while (line->left > 0 && (walk->wants_pairs || engines[0] < walk->adapter.wanted)) {
		uint32_t place = next_in(line);

		if (room_at(walk, &walk->pool[place]) != LORA_CROWDED)
			mark(walk, place, engines);
	}
	for (size_t i = walk->standing; i-- > line->left;)
		mark(walk, line->heap[i], engines);
}

static bool all_are_busy(const struct walk *walk, const struct spill_bar *bar)
{
	for (size_t i = 0; i < walk->standing; i++)
		if (is_marked(&walk->pool[i], walk) && !spill_over(walk, &walk->pool[i], bar, 0))
			return false;
	return true;
}

/* One more that is not too busy: who has it, or else has room for it, or else is the next in
 * order. */
static void mark_another(const struct walk *walk, const struct spill_bar *bar)
{
	const double *weights = walk->scratch->values;
	size_t best = walk->standing;
	enum lora_room best_room = LORA_CROWDED;

	for (size_t i = 0; i < walk->standing; i++) {
		const struct candidate *candidate = &walk->pool[i];
		enum lora_room room;

		if (is_marked(candidate, walk) || spill_over(walk, candidate, bar, 0))
			continue;
		room = room_at(walk, candidate);
		if (best < walk->standing &&
		    (room != best_room ? room < best_room : weights[i] <= weights[best]))
			continue;
		best = i;
		best_room = room;
	}
	if (best < walk->standing)
		walk->scratch->sorted[best] = 1;
}

static uint32_t pinned_to(const struct walk *walk)
{
	struct pin pin;

	if (!walk->session.wanted || !session_is_key(walk->request) ||
	    !pins_find(walk->facts->sessions, session_key(walk->facts, walk->request, walk->model),
	               walk->now, &pin))
		return TARGET_NONE;
	return pin.target;
}

/* Who has the adapter, and the session or more of the prompt than those that are marked. */
static void mark_knowing(const struct walk *walk)
{
	double least = walk->facts->policy->prefix.min_match;
	uint32_t pinned = pinned_to(walk), most = 0;

	for (size_t i = 0; i < walk->standing; i++)
		if (is_marked(&walk->pool[i], walk) && walk->pool[i].matched > most)
			most = walk->pool[i].matched;
	for (size_t i = 0; i < walk->standing; i++) {
		const struct candidate *candidate = &walk->pool[i];

		if (!is_marked(candidate, walk) &&
		    (candidate->target->id == pinned ||
		     (candidate->matched > most && candidate->matched - most >= least)) &&
		    room_at(walk, candidate) == LORA_THERE)
			walk->scratch->sorted[i] = 1;
	}
}

static void run(struct walk *walk)
{
	const struct lora_policy *policy = &walk->facts->policy->lora;
	uint32_t at = walk->level == 1 ? TARGET_NONE : walk->instance->target->id;
	struct spill_bar bar;
	struct line line;

	walk->adapter.heat = fmax(adapters_heat(walk->facts->adapters, walk->adapter.id, at,
	                                        walk->now, policy->cooling),
	                          adapters_open(walk->facts->adapters, walk->adapter.id, at) + 1.0);
	walk->adapter.wanted = wanted(walk, walk->adapter.heat);
	line = line_up(walk);
	mark_first(walk, &line);
	bar = spill_bar_of(walk, is_marked, walk);
	if (!bar.others)
		return;
	walk->adapter.spilled = all_are_busy(walk, &bar);
	if (walk->adapter.spilled)
		mark_another(walk, &bar);
	mark_knowing(walk);
	for (size_t i = walk->standing; i-- > 0;) {
		if (is_marked(&walk->pool[i], walk))
			continue;
		walk_drop(walk, i, &stage_adapter);
		walk->adapter.narrowed = true;
	}
}

static bool needed(const struct walk *walk)
{
	return walk->adapter.id != 0 && walk->standing > 1 && !walk->facts->policy->lora.spread;
}

const struct stage stage_adapter = {
	.name = "adapter",
	.help = "Keeps the replicas that the request's LoRA adapter is spread over.",
	.run = run,
	.needed = needed,
	.when_empty = { EMPTY_UNDO, EMPTY_UNDO },
};
