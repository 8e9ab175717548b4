/* fuzz_strategy.c - whatever a client sends as routing-strategy: it means a strategy that can be
 * used, or there is a reason why not. */
#include <stdlib.h>
#include <string.h>

#include "policies/blend.h"
#include "policies/defaults.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "tests/fuzz/fuzz.h"

static void look_at(const struct strategy *strategy)
{
	char described[BLEND_TEXT_MAX];
	struct entry_policy entry;

	expect(strategy->name && strategy->help && strategy->picker);
	expect(strlen(strategy->name) < BLEND_TEXT_MAX);
	for (size_t i = 0; i < WEIGHINGS_MAX && strategy->weighings[i].signal; i++)
		expect(strategy->weighings[i].weight > 0 &&
		       strategy->weighings[i].weight <=
		               2.0 * BLEND_PARTS_MAX * BLEND_COEFFICIENT_MAX);
	blend_describe(strategy, described);
	expect(strlen(described) < BLEND_TEXT_MAX);
	entry_default(&entry, strategy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct strategy own = {
		.name = "mine",
		.help = "The operator's own.",
		.weighings = { { .signal = &signal_ttft, .weight = 0.5, .min_spread = 7 } },
		.blending = BLEND_LOAD,
		.picker = &picker_weighted
	};
	static const struct strategy *const list[] = { &own };
	static struct blend room;
	char *text = malloc(size + 1); /* its end is watched */
	struct blend_problem problem = { BLEND_NONE, { NULL, 0 } };
	const struct strategy *strategy;
	struct policy policy;

	if (!text)
		return 0;
	memcpy(text, data, size);
	policy_default(&policy);
	policy.strategies = (const struct strategy **)(uintptr_t)list;
	policy.strategy_count = 1;
	strategy = blend_strategy(&policy, (struct span){ text, size }, &room, &problem);
	if (strategy) {
		look_at(strategy);
	} else {
		expect(problem.fault != BLEND_NONE && *blend_fault_text(problem.fault));
		expect(problem.part.len <= size);
	}
	free(text);
	return 0;
}
