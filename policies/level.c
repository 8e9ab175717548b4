/* level.c - from stage to stage, and what happens when one leaves nobody.
 *
 * Stages up to the prefix run once. The others run for each entry of the chain,
 * until one yields somebody; each entry finds the pool as the prefix stage left
 * it. When the holders of a prefix are too busy, the chain is tried on the
 * others first, and on all of them last. */
#include "policies/level.h"

#include "policies/core/bug.h"
#include "policies/core/strategy.h"
#include "policies/pairs.h"
#include "policies/phases.h"
#include "policies/pickers/picker.h"
#include "policies/pipeline.h"
#include "policies/signals/headroom.h"
#include "policies/signals/signal.h"
#include "policies/stages/admission.h"
#include "policies/stages/objective.h"
#include "policies/stages/patience.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static const double rounding = 1e-9;
static const double wait_unknown_s = 2; /* asked of a client when nothing tells */

static bool limits_read_averages(const struct limits *limits)
{
	return limits->ttft_ms > 0 || limits->e2e_ms > 0;
}

static bool limits_read_engines(const struct limits *limits)
{
	return limits->pending > 0 || limits->kv_usage > 0;
}

/* What the entries will read, so that no more is gathered than is used. */
static void find_wants(struct walk *walk, const struct chain *chain)
{
	enum levels_mode levels = walk->facts->policy->levels;
	bool averages = false;

	walk->wants_load = walk->exact;
	for (uint32_t e = 0; e < chain->count; e++) {
		const struct entry_policy *entry = &chain->entries[e];
		const struct weighing *weighings = entry->strategy->weighings;

		if (walk->level == 2 && entry->strategy->pair) {
			walk->wants_pairs = true;
			walk->wants_load |= phase_reads_load(&entry->pair.prefill) ||
			                    phase_reads_load(&entry->pair.decode);
		}
		averages |=
		        limits_read_averages(&entry->admit) || limits_read_averages(&entry->hard);
		if (limits_read_engines(&entry->admit) || limits_read_engines(&entry->hard))
			walk->wants_load = true;
		if (entry_session_mode(entry) != SESSION_OFF)
			walk->session.wanted = true;
		for (size_t i = 0; i < WEIGHINGS_MAX && weighings[i].signal; i++) {
			if (weighings[i].signal->reads_load)
				walk->wants_load = true;
			if (weighings[i].signal->reads_session)
				walk->session.wanted = true;
			if (walk->level == 1 && signal_reads_members(weighings[i].signal, levels))
				walk->wants_members = true;
		}
	}
	walk->averages_only = averages && !walk->wants_load;
	walk->wants_load |= averages;
}

static void keep_each(struct walk *walk, const struct stage *stage)
{
	size_t i = 0;

	while (i < walk->standing) {
		if (stage->keep(walk, &walk->pool[i]))
			i++;
		else
			walk_drop(walk, i, stage);
	}
}

static bool run(struct walk *walk, const struct stage *stage, uint16_t *ret_stood)
{
	bool empty;

	if (stage->keep)
		keep_each(walk, stage);
	else
		stage->run(walk);
	empty = walk->standing == 0;
	if (empty && stage->when_empty[walk->level - 1] == EMPTY_UNDO) {
		walk_undo(walk, stage);
		walk->panic = walk->panic || stage == &stage_health;
		empty = false;
	}
	*ret_stood = (uint16_t)walk->standing;
	return empty;
}

/* True when the stage left nobody, and that was not undone. Most have nothing to do. */
static bool step(struct walk *walk, const struct stage *stage, uint16_t *ret_stood)
{
	*ret_stood = (uint16_t)walk->standing;
	return (!stage->needed || stage->needed(walk)) && run(walk, stage, ret_stood);
}

static enum walk_end end_of(const struct walk *walk, const struct stage *stage)
{
	switch (stage->when_empty[walk->level - 1]) {
	case EMPTY_FALLBACK:
		return WALK_FALLBACK;
	case EMPTY_NOBODY:
		return WALK_NOBODY;
	case EMPTY_SPILL:
		return WALK_SPILL;
	case EMPTY_REFUSE:
		return WALK_REFUSED;
	case EMPTY_NEXT:
		return walk->narrowed && !walk->spilling && stage == &stage_admission
		               ? WALK_SPILL
		               : WALK_EXHAUSTED;
	case EMPTY_UNDO:
		break;
	}
	BUG_ON(true);
}

/* The stages that run once. */
static enum walk_end gather(struct walk *walk, struct level_trace *trace)
{
	const struct stage *stage;

	for (size_t i = 0; (stage = pipeline_stage(i)) && !stage->per_entry; i++) {
		if (stage == &stage_measure && walk->only_one_will_do && walk->standing == 1)
			return WALK_CHOSEN;
		if (!step(walk, stage, &trace->stood[i]))
			continue;
		walk->ended_by = stage;
		return end_of(walk, stage);
	}
	return WALK_ON;
}

/* Who makes pairs prices each role by itself. */
static bool makes_pairs(const struct walk *walk)
{
	return walk->level == 2 && walk->strategy->pair;
}

/* One alone needs no comparison. */
static bool is_idle_talk(const struct walk *walk, const struct stage *stage)
{
	return stage == &stage_score &&
	       (makes_pairs(walk) ||
	        (walk->standing == 1 && !walk->exact && walk->entry->min_score <= 0));
}

/* The best would be too late: so would all others. */
static bool is_late(const struct walk *walk, const struct candidate *best)
{
	struct headroom headroom;

	return walk->level == 2 && headroom_read(walk, best, &headroom) &&
	       headroom.value < -rounding;
}

static bool is_good_enough(const struct walk *walk, size_t chosen)
{
	return walk->entry->min_score <= 0 ||
	       walk->pool[chosen].graded >= walk->entry->min_score - rounding;
}

static size_t pick(struct walk *walk)
{
	size_t picked = 0;

	if (walk->standing > 1)
		picked = walk->strategy->picker->pick(walk, walk->entry->picker_settings);
	BUG_ON(picked >= walk->standing);
	return picked;
}

/* Prefill replicas that stood for another entry of the chain fall. False: nobody is left. */
static bool are_whole(struct walk *walk)
{
	for (size_t i = walk->standing; i-- > 0 && walk->wants_pairs && !makes_pairs(walk);) {
		if (walk->pool[i].replica && walk->pool[i].replica->role == ROLE_PREFILL)
			walk_drop(walk, i, &stage_role);
	}
	return walk->standing > 0;
}

static enum walk_end try_entry(struct walk *walk, struct level_trace *trace)
{
	const struct stage *stage;

	trace->prefill = NULL;
	walk->ended_by = NULL;
	if (!are_whole(walk))
		return WALK_EXHAUSTED;
	for (size_t i = 0; (stage = pipeline_stage(i)); i++) {
		if (!stage->per_entry)
			continue;
		trace->stood[i] = (uint16_t)walk->standing;
		if (is_idle_talk(walk, stage) || !step(walk, stage, &trace->stood[i]))
			continue;
		walk->ended_by = stage;
		return end_of(walk, stage);
	}
	walk->ended_by = NULL;
	if (!makes_pairs(walk))
		trace->chosen = pick(walk);
	else if (!pairs_choose(walk, trace))
		return WALK_EXHAUSTED;
	if (walk->strategy->pulls && is_late(walk, &walk->pool[trace->chosen])) {
		walk->late = true;
		return WALK_NOBODY;
	}
	return is_good_enough(walk, trace->chosen) ? WALK_CHOSEN : WALK_EXHAUSTED;
}

/* What an entry that yielded nobody says about overload. */
static void judge(struct walk *walk, size_t stood)
{
	bool timed = walk->wait_s > 0;

	if (walk->ended_by != &stage_admission && walk->ended_by != &stage_objective)
		walk->overload = false;
	for (size_t i = 0; i < stood && walk->overload; i++) {
		const struct candidate *candidate = &walk->pool[i];
		bool objective = candidate->dropped_by == &stage_objective;
		double wait_s = objective ? objective_wait_s(walk, candidate)
		                          : admission_wait_s(walk, candidate);

		walk->deadline = walk->deadline && patience_excess_ms(walk, candidate) > 0;
		walk->hard = walk->hard && (objective || admission_over_hard(walk, candidate));
		wait_s = wait_s > 0 ? wait_s : wait_unknown_s;
		if (!timed || wait_s < walk->wait_s)
			walk->wait_s = wait_s;
		timed = true;
	}
}

/* The first `stood` of the pool were dropped by entries of the chain: not any more. */
static void stand_again(struct walk *walk, size_t stood)
{
	for (size_t i = 0; i < stood; i++)
		walk->pool[i].dropped_by = NULL;
	walk->standing = stood;
}

static enum walk_end try_chain(struct walk *walk, const struct chain *chain,
                               struct level_trace *trace)
{
	size_t stood = walk->standing;
	enum walk_end end = WALK_EXHAUSTED;

	walk->overload = walk->hard = walk->deadline = true;
	walk->wait_s = 0;
	for (uint32_t e = 0; e < chain->count && end == WALK_EXHAUSTED; e++) {
		if (e > 0)
			stand_again(walk, stood);
		walk->entry = &chain->entries[e];
		walk->strategy = walk->entry->strategy;
		walk->gated = walk->degraded = walk->deep = false;
		end = try_entry(walk, trace);
		if (end == WALK_EXHAUSTED)
			judge(walk, stood);
	}
	return end;
}

static size_t set_spilled_aside(struct walk *walk)
{
	for (size_t i = walk->standing; i-- > 0;) {
		if (walk->pool[i].spilled)
			walk_drop(walk, i, &stage_prefix);
	}
	return walk->standing;
}

/* The holders are too busy: the others first, all of them last. */
static enum walk_end spill(struct walk *walk, const struct chain *chain, size_t narrow,
                           struct level_trace *trace)
{
	enum walk_end end = WALK_EXHAUSTED;
	size_t others;

	/* Holders whom the prefix stage kept, and admission did not. */
	for (size_t i = 0; i < narrow; i++)
		walk->pool[i].spilled = !walk->seeding;
	stand_again(walk, narrow);
	walk->session.spilled = walk->session.spilled || walk->session.kept;
	walk->session.kept = false;
	walk->spilling = true;
	walk->seeding = false;
	walk_undo(walk, &stage_prefix);
	walk_undo(walk, &stage_session);
	others = set_spilled_aside(walk);
	if (others > 0)
		end = try_chain(walk, chain, trace);
	if (end != WALK_EXHAUSTED || others == walk->count)
		return end;
	stand_again(walk, others);
	walk_undo(walk, &stage_prefix);
	return try_chain(walk, chain, trace);
}

/* Nobody of those whom the adapter is spread over: then it goes to anybody. */
static enum walk_end leave_adapter(struct walk *walk, const struct chain *chain,
                                   struct level_trace *trace)
{
	const struct stage *stage;

	for (size_t i = 0; (stage = pipeline_stage(i)); i++) {
		if (stage->per_entry || stage == &stage_prefix || stage == &stage_session ||
		    stage == &stage_adapter)
			walk_undo(walk, stage);
	}
	walk->session.spilled = walk->session.spilled || walk->session.kept;
	walk->session.kept = walk->narrowed = walk->seeding = false;
	walk->adapter.spilled = true;
	return try_chain(walk, chain, trace);
}

enum walk_end level_walk(struct walk *walk, const struct chain *chain,
                         struct level_trace *ret_trace)
{
	enum walk_end end;
	size_t narrow;

	*ret_trace = (struct level_trace){ .walked = true };
	walk->entry = &chain->entries[0];
	walk->strategy = walk->entry->strategy;
	find_wants(walk, chain);
	end = gather(walk, ret_trace);
	narrow = walk->standing;
	if (end == WALK_ON)
		end = try_chain(walk, chain, ret_trace);
	if (end == WALK_SPILL)
		end = spill(walk, chain, narrow, ret_trace);
	if (end == WALK_EXHAUSTED && walk->adapter.narrowed)
		end = leave_adapter(walk, chain, ret_trace);
	ret_trace->pool = walk->pool;
	ret_trace->count = walk->count;
	ret_trace->standing = walk->standing;
	ret_trace->chosen = end == WALK_CHOSEN ? ret_trace->chosen : walk->count;
	if (end != WALK_CHOSEN)
		ret_trace->prefill = NULL;
	ret_trace->strategy = walk->strategy;
	ret_trace->asked = walk->entry->strategy;
	ret_trace->degraded = walk->degraded;
	ret_trace->session = walk->session;
	ret_trace->adapter = walk->adapter;
	return end;
}
