/* hand.h - a walk made by hand, for stages and pickers alone: fill in the
 * candidates, run one stage or picker, look at who stands. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/core/policy.h"
#include "policies/defaults.h"
#include "policies/pickers/pickers.h"
#include "policies/stages/scratch.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"
#include "policies/strategies.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SPAN(text)   ((struct span){ (text), strlen(text) })

enum { HAND_MAX = 32 };

struct hand {
	struct policy policy;
	struct facts facts;
	struct entry_policy entry;
	struct request request;
	struct prompt prompt;
	struct rng rng;
	struct candidate pool[HAND_MAX];
	struct target targets[HAND_MAX];
	struct instance instance;
	struct replica replicas[HAND_MAX];
	struct load loads[HAND_MAX];
	double values[HAND_MAX], sorted[HAND_MAX];
	struct scratch scratch;
	struct walk walk;
};

/* What is learnt of engines: made once, and empty for each walk. */
static inline void hand_learn(struct facts *facts)
{
	static struct rates *rates;
	static struct engines *engines;
	static struct ttft_fits *fits;
	static struct recent *recent;
	static struct ledger *ledger;
	static struct averages *averages;

	rates = rates ? rates : rates_new(HAND_MAX);
	engines = engines ? engines : engines_new(HAND_MAX);
	fits = fits ? fits : ttft_fits_new(HAND_MAX);
	recent = recent ? recent : recent_new(HAND_MAX);
	ledger = ledger ? ledger : ledger_new(HAND_MAX, SECOND, 600 * SECOND);
	averages = averages ? averages : averages_new(HAND_MAX);
	for (uint32_t i = 0; i < HAND_MAX; i++) {
		rates_forget(rates, i);
		engines_forget(engines, i);
		ttft_fits_forget(fits, i);
		recent_forget(recent, i);
		ledger_forget(ledger, i);
		averages_forget(averages, i);
	}
	facts->rates = rates;
	facts->engines = engines;
	facts->ttft_fits = fits;
	facts->recent = recent;
	facts->ledger = ledger;
	facts->averages = averages;
}

/* Level 2, this many replicas of no load at all, this recipe. */
static inline void hand_make(struct hand *hand, const char *strategy, size_t count)
{
	*hand = (struct hand){ .rng = { 1 } };
	policy_default(&hand->policy);
	hand->facts.policy = &hand->policy;
	hand_learn(&hand->facts);
	entry_default_replicas(&hand->entry, strategy_named(SPAN(strategy)));
	hand->instance.weight = 1;
	hand->instance.target = &hand->targets[HAND_MAX - 1];
	hand->targets[HAND_MAX - 1].id = HAND_MAX - 1;
	for (size_t i = 0; i < count; i++) {
		hand->targets[i].id = (uint32_t)i;
		hand->replicas[i] = (struct replica){
			.target = &hand->targets[i], .weight = 1, .usable = true, .up = true
		};
		hand->loads[i] = (struct load){ -1, -1, -1, -1, 0 };
		hand->pool[i] = (struct candidate){ .target = &hand->targets[i],
			                            .instance = &hand->instance,
			                            .replica = &hand->replicas[i],
			                            .load = &hand->loads[i],
			                            .engines = 1 };
	}
	hand->scratch = (struct scratch){ .room = HAND_MAX,
		                          .pool = hand->pool,
		                          .loads = hand->loads,
		                          .values = hand->values,
		                          .sorted = hand->sorted,
		                          .any_match = true,
		                          .tokens_per_byte = 0.25 };
	hand->walk = (struct walk){ .request = &hand->request,
		                    .prompt = &hand->prompt,
		                    .entry = &hand->entry,
		                    .strategy = hand->entry.strategy,
		                    .facts = &hand->facts,
		                    .rng = &hand->rng,
		                    .pool = hand->pool,
		                    .count = count,
		                    .standing = count,
		                    .level = 2,
		                    .previous = TARGET_NONE,
		                    .session = { .target = TARGET_NONE, .pinned = TARGET_NONE },
		                    .scratch = &hand->scratch };
}

/* Running, raw and scored alike. */
static inline void hand_running(struct hand *hand, const double *running)
{
	for (size_t i = 0; i < hand->walk.count; i++) {
		hand->pool[i].running = hand->pool[i].running_scored = running[i];
		hand->pool[i].own = (uint32_t)running[i];
	}
}

/* Its engine showed this many output tokens a second. The walk is at 20 s. */
static inline void hand_capacity(struct hand *hand, size_t i, double tokens_per_s)
{
	struct engine_page page = engine_page_blank(10 * SECOND);
	struct growth growth;

	page.running = 8;
	page.generation_tokens = 1000;
	(void)rates_learn(hand->facts.rates, (uint32_t)i, &page, &growth);
	page.at = 20 * SECOND;
	page.generation_tokens += 10 * tokens_per_s;
	(void)rates_learn(hand->facts.rates, (uint32_t)i, &page, &growth);
	hand->walk.now = 20 * SECOND;
}

/* The last page of its engine; read just now. */
static inline void hand_page(struct hand *hand, size_t i, double waiting, double kv_usage)
{
	struct engine_page page = engine_page_blank(20 * SECOND);

	page.waiting = waiting;
	page.kv_usage = kv_usage;
	engines_put(hand->facts.engines, (uint32_t)i, &page);
	hand->walk.now = 20 * SECOND;
}

/* Candidate number i of the beginning, wherever it lies now. */
static inline struct candidate *hand_of(struct hand *hand, size_t i)
{
	size_t at = 0;

	while (at < hand->walk.count && hand->pool[at].target != &hand->targets[i])
		at++;
	assert_true(at < hand->walk.count);
	return &hand->pool[at];
}

static inline bool hand_stands(struct hand *hand, size_t i)
{
	return !hand_of(hand, i)->dropped_by;
}

static inline void hand_run(struct hand *hand, const struct stage *stage)
{
	struct walk *walk = &hand->walk;

	if (stage->needed && !stage->needed(walk))
		return;
	if (stage->run) {
		stage->run(walk);
		return;
	}
	for (size_t i = walk->standing; i-- > 0;) {
		if (!stage->keep(walk, &walk->pool[i]))
			walk_drop(walk, i, stage);
	}
}

/* How often each is picked of so many draws, with the settings of the entry. */
static inline void hand_draw(struct hand *hand, const struct picker *picker, uint32_t draws,
                             uint32_t ret_times[HAND_MAX])
{
	memset(ret_times, 0, HAND_MAX * sizeof(*ret_times));
	for (uint32_t i = 0; i < draws; i++) {
		size_t picked = picker->pick(&hand->walk, hand->entry.picker_settings);

		assert_true(picked < hand->walk.standing);
		ret_times[hand->pool[picked].target->id]++;
	}
}

/* Within 4 standard deviations of what the probability says. */
static inline void expect_probability(uint32_t times, uint32_t draws, double probability)
{
	double share = (double)times / draws;
	double variance = probability * (1 - probability) / draws;
	double off = share - probability;

	if (variance == 0)
		assert_true(share == probability);
	else if (off * off > 16 * variance)
		fail_msg("%g instead of %g", share, probability);
}

static inline void expect_close(double value, double expected)
{
	if (!(value - expected < 1e-6 && expected - value < 1e-6))
		fail_msg("%.7f instead of %.7f", value, expected);
}
