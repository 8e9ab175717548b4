/* passage.c - one request's way through both levels: with what each walk begins. */
#include "policies/passage.h"

#include <string.h>

#include "policies/client_retry.h"
#include "policies/defaults.h"
#include "policies/level.h"
#include "policies/prompt.h"
#include "policies/rules.h"
#include "policies/usage.h"

/* As long as the answers of an instance that serves the model have been. Which one does
 * not matter much: it is clients who make them long. */
static void expect_output(const struct passage *passage, struct prompt *prompt)
{
	const struct facts *facts = passage->decider->facts;
	size_t count;
	const struct instance *const *serving = fleet_serving(facts->fleet, passage->model, &count);

	for (size_t i = 0; i < count; i++)
		if (answers_tokens(facts->answers, serving[i]->target->id, passage->now,
		                   &prompt->output_tokens))
			return;
}

static const struct class_policy *class_of_tenant(const struct passage *passage)
{
	const struct tenant_policy *tenant = NULL;

	if (passage_policy(passage)->tenant_count > 0)
		tenant = tenants_policy(passage->decider->facts->tenants, passage->tenant,
		                        passage->request->tenant);
	return tenant ? tenant->class_of : NULL;
}

static void find_place(struct passage *passage)
{
	const struct policy *policy = passage_policy(passage);
	const struct queue_classes classes = { .tenant = class_of_tenant(passage),
		                               .model = passage->rule->class_of };

	passage->place = queue_place(policy, passage->request, &classes);
	passage->decider->prompt.objectives =
	        queue_objectives(policy, passage->request, passage->place.class_of);
	if (!passage->dry)
		passage->decider->facts->counters->unknown_class += passage->place.unknown;
}

void passage_enter(struct passage *passage, struct decider *decider, const struct request *request,
                   usec_t now, bool dry)
{
	const struct fleet *fleet = decider->facts->fleet;
	struct model_names names;

	*passage = (struct passage){ .decider = decider,
		                     .request = request,
		                     .now = now,
		                     .dry = dry,
		                     .rng = decider->rng,
		                     .overload = true,
		                     .deadline = true };
	passage->model = fleet_model_id(fleet, request->model);
	passage->adapter = fleet_adapter(fleet, passage->model);
	names = fleet_model_names(fleet, passage->model, request->model);
	passage->base = names.base;
	passage->rule = rule_for(decider->facts->policy, request, &names);
	prompt_of(request, decider->facts->policy, decider->facts->prefix, &names,
	          &decider->prompt);
	expect_output(passage, &decider->prompt);
	passage->choice = choice_of(decider->facts->policy, request->strategy, &names,
	                            decider->prompt.tokens, &decider->asked_strategy);
	passage->tenant = tenant_key(request->tenant);
	find_place(passage);
	usage_check(decider->facts, request, &decider->prompt, passage->tenant, names.own,
	            &passage->check);
	decider_match(decider, now);
	passage->previous = client_retry_previous(decider->facts, request, &decider->prompt,
	                                          passage->model, now);
}

/* The chain as configured, or with the strategy of a header or of the model's profile. */
static struct chain chain_of(const struct passage *passage, int level,
                             const struct entry_policy *entries, uint32_t count)
{
	struct entry_policy *asked = passage->decider->asked[level - 1];
	const struct strategy *strategy = passage->choice.strategy;

	if (!strategy)
		return (struct chain){ entries, count };
	for (uint32_t i = 0; i < count; i++) {
		asked[i] = entries[i];
		entry_use(&asked[i], strategy);
	}
	return (struct chain){ asked, count };
}

static void begin(struct passage *passage, int level, struct walk *ret_walk)
{
	struct decider *decider = passage->decider;
	struct scratch *scratch = &decider->levels[level - 1];
	uint32_t source = passage->request->source;

	scratch->source = source < SOURCES_MAX ? (uint8_t)(1u << source) : 0;
	*ret_walk = (struct walk){ .request = passage->request,
		                   .prompt = &decider->prompt,
		                   .facts = decider->facts,
		                   .now = passage->now,
		                   .rng = &passage->rng,
		                   .pool = scratch->pool,
		                   .level = level,
		                   .model = passage->model,
		                   .rule = passage->rule,
		                   .tenant = passage->tenant,
		                   .check = passage->check.count > 0 ? &passage->check : NULL,
		                   .scratch = scratch,
		                   .previous = passage->previous,
		                   .session = { .target = TARGET_NONE, .pinned = TARGET_NONE },
		                   .adapter = { .id = passage->adapter },
		                   .exact = passage->dry };
}

static bool has_limits(const struct limits *limits)
{
	return limits->running > 0 || limits->pending > 0 || limits->ttft_ms > 0 ||
	       limits->e2e_ms > 0 || limits->kv_usage > 0;
}

/* With one instance and nothing to hold it to, level 2 is all there is to decide. */
static bool only_one_will_do(const struct passage *passage, const struct chain *chain)
{
	if (passage->dry || passage_policy(passage)->levels != LEVELS_BOTH)
		return false;
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct entry_policy *entry = &chain->entries[i];

		if (has_limits(&entry->admit) || has_limits(&entry->hard) || entry->min_score > 0)
			return false;
	}
	return true;
}

static enum walk_end finish_level(struct passage *passage, struct walk *walk, bool *latched,
                                  const struct chain *chain, struct level_trace *ret_trace)
{
	enum walk_end end;

	walk->latched = *latched;
	end = level_walk(walk, chain, ret_trace);
	passage->latches[walk->level - 1] =
	        (struct latch){ latched, end == WALK_CHOSEN && walk->gated };
	if (passage->dry)
		return end;
	passage->decider->facts->counters->chain_miss += end == WALK_EXHAUSTED;
	passage->decider->facts->counters->spilled += walk->spilling;
	return end;
}

enum walk_end passage_walk_instances(struct passage *passage, struct level_trace *ret_trace)
{
	struct decider *decider = passage->decider;
	const struct rule *rule = passage->rule;
	const struct policy *policy = passage_policy(passage);
	struct chain chain = chain_of(passage, 1, rule->chain, rule->chain_count);
	size_t latch = rule == &policy->default_rule ? 0 : (size_t)(rule - policy->rules) + 1;

	latch = latch < RULES_LATCHED ? latch : RULES_LATCHED - 1;
	decider->levels[0].banned = passage->banned;
	decider->levels[0].banned_count = passage->banned_count;
	begin(passage, 1, &passage->walks[0]);
	passage->walks[0].only_one_will_do = only_one_will_do(passage, &chain);
	return finish_level(passage, &passage->walks[0],
	                    &decider->latched[decider->targets + latch], &chain, ret_trace);
}

enum walk_end passage_walk_replicas(struct passage *passage, const struct instance *instance,
                                    struct level_trace *ret_trace)
{
	const struct instance_policy *own =
	        instance->policy ? instance->policy : &passage_policy(passage)->default_instance;
	struct chain chain = chain_of(passage, 2, own->chain, own->chain_count);

	begin(passage, 2, &passage->walks[1]);
	passage->walks[1].instance = instance;
	return finish_level(passage, &passage->walks[1],
	                    &passage->decider->latched[instance->target->id], &chain, ret_trace);
}

void passage_latch(const struct passage *passage)
{
	for (size_t i = 0; i < 2; i++) {
		if (passage->latches[i].at)
			*passage->latches[i].at = passage->latches[i].fired;
	}
}

bool passage_limited(struct passage *passage)
{
	if (passage->check.count > 0 && !passage->check.asked)
		limits_ask(passage->decider->facts->limits, &passage->check, passage->now);
	return passage->check.refused != LIMIT_NONE;
}

void passage_note_failure(struct passage *passage, const struct walk *walk, enum walk_end end)
{
	if (end != WALK_EXHAUSTED || !walk->overload || !walk->hard) {
		passage->overload = false;
		return;
	}
	passage->deadline = passage->deadline && walk->deadline;
	if (passage->wait_s <= 0 || walk->wait_s < passage->wait_s)
		passage->wait_s = walk->wait_s;
}
