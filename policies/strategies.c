/* strategies.c - the table of recipes. To add one: add its row. */
#include "policies/strategies.h"

#include "policies/core/name.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"

#define OWN (-1) /* the signal's own least spread */

/* Others fall to these two when they lack their data. */
enum { LEAST_WORK, RANDOM, LEAST_REQUEST, LEAST_REQUEST_TOP_K, POWER_OF_TWO };

static const struct strategy strategies[] = {
	[LEAST_WORK] = { .name = "least-work",
	                 .help = "The target with the least work before this prompt's first token: "
	                         "waiting "
	                         "prefill, uncached tokens, requests in flight.",
	                 .weighings = { { &signal_work, 1, OWN } },
	                 .picker = &picker_best },
	[RANDOM] = { .name = "random",
	             .help = "Any target, each as likely as the other.",
	             .picker = &picker_random,
	             .gate = true },
	[LEAST_REQUEST] = { .name = "least-request",
	                    .help = "The target with the fewest requests in flight.",
	                    .weighings = { { &signal_running, 1, OWN } },
	                    .picker = &picker_best,
	                    .gate = true },
	[LEAST_REQUEST_TOP_K] = { .name = "least-request-top-k",
	                          .help = "Any of the targets with the fewest requests in flight, "
	                                  "within a few of the "
	                                  "least.",
	                          .weighings = { { &signal_running, 1, OWN } },
	                          .picker = &picker_top_k,
	                          .gate = true },
	[POWER_OF_TWO] = { .name = "power-of-two",
	                   .help = "The one with fewer requests in flight of two drawn at random.",
	                   .weighings = { { &signal_running, 1, OWN } },
	                   .picker = &picker_p2c,
	                   .gate = true },
	{ .name = "session-affinity",
	  .help = "The target that has the request's session, while it is not too busy; without a "
	          "session the one with the fewest requests in flight.",
	  .weighings = { { &signal_session, 1, OWN } },
	  .picker = &picker_best,
	  .session = SESSION_HARD,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "soft-k-choice",
	  .help = "A draw among the k targets with the fewest in flight, the less loaded the "
	          "likelier.",
	  .weighings = { { &signal_running, 1, OWN } },
	  .picker = &picker_soft_k,
	  .prefix = PREFIX_SOLE },
	{ .name = "least-latency",
	  .help = "The target whose requests took the least time from start to end.",
	  .weighings = { { &signal_e2e, 1, OWN } },
	  .picker = &picker_best,
	  .gate = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "least-kv-cache",
	  .help = "The target whose KV cache has the most room.",
	  .weighings = { { &signal_kv_usage, 1, OWN } },
	  .picker = &picker_best,
	  .gate = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "prefix-cache",
	  .help = "The share of the prompt in the cache, 5, against requests in flight, 4, until a "
	          "measure of load by capacity takes their place.",
	  .weighings = { { &signal_prefix, 5, OWN }, { &signal_running, 4, OWN } },
	  .picker = &picker_best,
	  .prefix = PREFIX_SCORE,
	  .gate = true,
	  .sigma = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "global-best",
	  .help = "The best by latency, load, cache use and failures together; holders of the "
	          "prompt "
	          "first.",
	  .weighings = { { &signal_ttft, 2, OWN },
	                 { &signal_e2e, 1, OWN },
	                 { &signal_running, 2, OWN },
	                 { &signal_pending, 1, OWN },
	                 { &signal_kv_usage, 1, OWN },
	                 { &signal_failures, 1, OWN } },
	  .picker = &picker_best,
	  .prefix = PREFIX_SOLE,
	  .serving = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "p2c",
	  .help = "The better of two drawn at random, judged as global-best does.",
	  .weighings = { { &signal_ttft, 2, OWN },
	                 { &signal_e2e, 1, OWN },
	                 { &signal_running, 2, OWN },
	                 { &signal_pending, 1, OWN },
	                 { &signal_kv_usage, 1, OWN },
	                 { &signal_failures, 1, OWN } },
	  .picker = &picker_p2c,
	  .prefix = PREFIX_SOLE,
	  .serving = true,
	  .falls_to = &strategies[POWER_OF_TWO] },
};

static const struct alias_of {
	const char *alias;
	const char *name;
} aliases[] = {
	{ "default", "least-work" },
	{ "least-gpu-cache", "least-kv-cache" },
};

const struct strategy *strategy_at(size_t i)
{
	return i < sizeof(strategies) / sizeof(strategies[0]) ? &strategies[i] : NULL;
}

/* The name that stands in the table, for what somebody wrote. */
static struct span resolved(struct span name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (name_is(aliases[i].alias, name))
			return (struct span){ aliases[i].name, __builtin_strlen(aliases[i].name) };
	}
	return name;
}

const struct strategy *strategy_named(struct span name)
{
	struct span sought = resolved(name);
	size_t i = 0;

	while (strategy_at(i) && !name_is(strategy_at(i)->name, sought))
		i++;
	return strategy_at(i);
}

const struct strategy *strategy_named_in(const struct policy *policy, struct span name)
{
	for (uint32_t i = 0; i < policy->strategy_count; i++) {
		if (name_is(policy->strategies[i]->name, name))
			return policy->strategies[i];
	}
	return strategy_named(name);
}
