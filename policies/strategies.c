/* strategies.c - the table of recipes. To add one: add its row. */
#include "policies/strategies.h"

#include "policies/core/name.h"
#include "policies/core/option.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"

/* With the signal's own scale and least spread. */
#define WEIGH(name, much)                                                                          \
	{                                                                                          \
		.signal = &signal_##name, .weight = (much), .min_spread = -1                       \
	}

/* What the two-level design knows of an instance. */
#define GLOBAL_SIGNALS                                                                             \
	WEIGH(ttft, 2), WEIGH(e2e, 1), WEIGH(running, 2), WEIGH(pending, 1), WEIGH(kv_usage, 1),   \
	        WEIGH(failures, 1)

/* Others fall to some of these when they lack their data. */
enum {
	LEAST_WORK,
	RANDOM,
	LEAST_REQUEST,
	LEAST_REQUEST_TOP_K,
	POWER_OF_TWO,
	LOAD_BALANCE,
	PREDICTED_TTFT
};

static const struct option least_latency_options[] = {
	{ "by", OPTION_CHOICE, 0, 0, 2, 0, "", "Which time counts.", "e2e|ttft|latency", false },
	{ 0 },
};

/* Has no name that could be asked for: the count of tokens in flight, where an engine does
 * not tell how many it works through. */
static const struct strategy tokens_in_flight = { .name = "tokens-in-flight",
	                                          .help = "The target with the fewest tokens "
	                                                  "in flight.",
	                                          .weighings = { WEIGH(tokens, 1) },
	                                          .picker = &picker_best };

static const struct strategy strategies[] = {
	[LEAST_WORK] = { .name = "least-work",
	                 .help = "The target with the least work before this prompt's first token: "
	                         "waiting prefill, uncached tokens, requests in flight.",
	                 .weighings = { WEIGH(work, 1) },
	                 .picker = &picker_best },
	[RANDOM] = { .name = "random",
	             .help = "Any target, each as likely as the other.",
	             .picker = &picker_random,
	             .mixing = MIX_ALONE,
	             .gate = true },
	[LEAST_REQUEST] = { .name = "least-request",
	                    .help = "The target with the fewest requests in flight.",
	                    .weighings = { WEIGH(running, 1) },
	                    .picker = &picker_best,
	                    .blending = BLEND_LOAD,
	                    .counts_requests = true,
	                    .gate = true },
	[LEAST_REQUEST_TOP_K] = { .name = "least-request-top-k",
	                          .help = "Any of the targets with the fewest requests in flight, "
	                                  "within a few of the least.",
	                          .weighings = { WEIGH(running, 1) },
	                          .picker = &picker_top_k,
	                          .blending = BLEND_LOAD,
	                          .counts_requests = true,
	                          .gate = true },
	[POWER_OF_TWO] = { .name = "power-of-two",
	                   .help = "The better of two targets drawn at random.",
	                   .weighings = { WEIGH(running, 1) },
	                   .picker = &picker_p2c,
	                   .blending = BLEND_LOAD,
	                   .counts_requests = true,
	                   .gate = true },
	[LOAD_BALANCE] = { .name = "load-balance",
	                   .help = "The target with the least load for its measured capacity and "
	                           "the "
	                           "room in its KV cache.",
	                   .weighings = { WEIGH(load_balance, 1) },
	                   .picker = &picker_best,
	                   .gate = true },
	[PREDICTED_TTFT] = { .name = "predicted-ttft",
	                     .help = "The target that would give the first token first, by what it "
	                             "taught.",
	                     .weighings = { WEIGH(predicted_ttft, 1) },
	                     .picker = &picker_best },
	{ .name = "session-affinity",
	  .help = "The target that has the request's session, while it is not too busy; without a "
	          "session the one with the fewest requests in flight.",
	  .weighings = { WEIGH(session, 1) },
	  .picker = &picker_best,
	  .session = SESSION_HARD,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "vtc-basic",
	  .help = "The target at the caller's place by its tokens lately, and requests in flight; "
	          "without a tenant the one with the fewest in flight.",
	  .weighings = { WEIGH(fairness, 1),
	                 { .signal = &signal_running,
	                   .weight = 1,
	                   .min_spread = -1,
	                   .scale = WEIGHING_NATURAL,
	                   .full = 100 } },
	  .picker = &picker_best,
	  .blending = BLEND_LOAD,
	  .gate = true,
	  .order = ORDER_FAIR,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "soft-k-choice",
	  .help = "A draw among the k targets with the fewest in flight, the less loaded the "
	          "likelier.",
	  .weighings = { WEIGH(running, 1) },
	  .picker = &picker_soft_k,
	  .counts_requests = true,
	  .prefix = PREFIX_SOLE },
	{ .name = "least-busy-time",
	  .help = "The target that was the least busy over the last minute.",
	  .weighings = { WEIGH(busy_time, 1) },
	  .picker = &picker_best,
	  .blending = BLEND_LOAD,
	  .gate = true },
	{ .name = "least-latency",
	  .help = "The target whose requests took the least time from start to end.",
	  .weighings = { WEIGH(e2e, 1) },
	  .picker = &picker_best,
	  .options = least_latency_options,
	  .blending = BLEND_LOAD,
	  .gate = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "least-kv-cache",
	  .help = "The target whose KV cache has the most room.",
	  .weighings = { WEIGH(kv_usage, 1) },
	  .picker = &picker_best,
	  .blending = BLEND_LOAD,
	  .gate = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "least-utilization",
	  .help = "The target whose engine is the least full.",
	  .weighings = { WEIGH(utilization, 1) },
	  .picker = &picker_best,
	  .blending = BLEND_LOAD,
	  .gate = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "throughput",
	  .help = "The target whose engine works through the fewest tokens.",
	  .weighings = { WEIGH(throughput, 1) },
	  .picker = &picker_best,
	  .blending = BLEND_LOAD,
	  .gate = true,
	  .falls_to = &tokens_in_flight },
	{ .name = "prefix-cache",
	  .help = "The share of the prompt in the cache, 5, against the load for the capacity, 4; "
	          "not among targets that run far more than the mean.",
	  .weighings = { WEIGH(prefix, 5), WEIGH(running, 4) },
	  .part_weighings = 1,
	  .picker = &picker_best,
	  .prefix = PREFIX_SCORE,
	  .blending = BLEND_OWN,
	  .gate = true,
	  .sigma = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "prefix-cache-preble",
	  .help = "The holders of most of a known prompt by their tokens in flight; of a new one, "
	          "the target that it costs the least.",
	  .weighings = { WEIGH(preble, 1) },
	  .picker = &picker_best,
	  .prefix = PREFIX_SCORE,
	  .deepest = 0.5,
	  .blending = BLEND_LOAD,
	  .gate = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "queue-kv-prefix",
	  .help = "Queue, room in the KV cache, prefix and requests in flight together.",
	  .weighings = { WEIGH(pending, 2), WEIGH(kv_usage, 2), WEIGH(prefix, 3),
	                 WEIGH(running, 1) },
	  .picker = &picker_best,
	  .prefix = PREFIX_SCORE,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "slo-least-load",
	  .help = "The target that would stay within the request's objectives by the most.",
	  .weighings = { WEIGH(slo, 1) },
	  .picker = &picker_best,
	  .prefix = PREFIX_SCORE,
	  .mixing = MIX_EXCLUSIVE,
	  .order = ORDER_DEADLINE,
	  .falls_to = &strategies[PREDICTED_TTFT] },
	{ .name = "slo-pack-load",
	  .help = "The fullest target that would stay within the request's objectives with a tenth "
	          "to spare.",
	  .weighings = { WEIGH(slo_pack, 1) },
	  .picker = &picker_best,
	  .prefix = PREFIX_SCORE,
	  .mixing = MIX_EXCLUSIVE,
	  .order = ORDER_DEADLINE,
	  .falls_to = &strategies[PREDICTED_TTFT] },
	{ .name = "slo-least-load-pulling",
	  .help = "As slo-least-load; where all would be too late, the request waits in HAProxy "
	          "for "
	          "the first that is free.",
	  .weighings = { WEIGH(slo, 1) },
	  .picker = &picker_best,
	  .prefix = PREFIX_SCORE,
	  .mixing = MIX_EXCLUSIVE,
	  .pulls = true,
	  .order = ORDER_DEADLINE,
	  .falls_to = &strategies[PREDICTED_TTFT] },
	{ .name = "pd",
	  .help = "A prefill and a decode replica of one roleset, or one replica alone where that "
	          "is cheaper; level 1 as least-work.",
	  .weighings = { WEIGH(work, 1) },
	  .picker = &picker_best,
	  .prefix = PREFIX_SCORE,
	  .mixing = MIX_EXCLUSIVE,
	  .pair = true },
	{ .name = "global-best",
	  .help = "The best by latency, load, cache use and failures together; holders of the "
	          "prompt first.",
	  .weighings = { GLOBAL_SIGNALS },
	  .picker = &picker_best,
	  .prefix = PREFIX_SOLE,
	  .serving = true,
	  .falls_to = &strategies[LEAST_REQUEST] },
	{ .name = "p2c",
	  .help = "The better of two drawn at random, judged as global-best does.",
	  .weighings = { GLOBAL_SIGNALS },
	  .picker = &picker_p2c,
	  .prefix = PREFIX_SOLE,
	  .serving = true,
	  .falls_to = &strategies[POWER_OF_TWO] },
};

_Static_assert(sizeof(strategies) / sizeof(strategies[0]) <= STRATEGY_ROWS_MAX,
               "counters have too few places");

static const struct alias_of {
	const char *alias;
	const char *name;
} aliases[] = {
	{ "default", "least-work" },
	{ "least-gpu-cache", "least-kv-cache" },
	{ "slo", "slo-least-load-pulling" },
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

const struct strategy *strategy_load_balance(void)
{
	return &strategies[LOAD_BALANCE];
}

const struct strategy *strategy_least_request(void)
{
	return &strategies[LEAST_REQUEST];
}

size_t strategy_row(const struct strategy *strategy)
{
	const struct strategy *row = strategy->row ? strategy->row : strategy;
	size_t i = 0;

	while (strategy_at(i) && strategy_at(i) != row)
		i++;
	return strategy_at(i) ? i : STRATEGY_ROWS_MAX;
}

const char *strategy_signal_name(const struct signal *signal)
{
	return signal->name;
}
