/* choice.c - header, then profile. */
#include "policies/choice.h"

#include <string.h>

/* 0: no match; the more exact, the more. */
static size_t match(const char *pattern, struct span model)
{
	size_t len = strlen(pattern);

	if (len == 0)
		return 1;
	if (pattern[len - 1] == '*')
		return model.len >= len - 1 && memcmp(pattern, model.at, len - 1) == 0 ? 1 + len
		                                                                       : 0;
	return model.len == len && memcmp(pattern, model.at, len) == 0 ? 2 * NAME_MAX_BYTES : 0;
}

static const struct profile *profile_of(const struct policy *policy, struct span model)
{
	const struct profile *best = NULL;
	size_t most = 0;

	for (uint32_t i = 0; i < policy->profile_count; i++) {
		size_t fit = match(policy->profiles[i].model, model);

		if (fit > most) {
			most = fit;
			best = &policy->profiles[i];
		}
	}
	return best;
}

/* The last step that the prompt is long enough for. */
static const struct strategy *by_length(const struct profile *profile, double tokens)
{
	const struct strategy *strategy = NULL;

	for (uint32_t i = 0; i < profile->step_count; i++) {
		if (tokens >= profile->steps[i].from - 1e-9)
			strategy = profile->steps[i].strategy;
	}
	return strategy;
}

struct choice choice_of(const struct policy *policy, struct span header,
                        const struct model_names *model, double tokens, struct blend *room)
{
	struct choice choice = { .asked = ASKED_NOTHING };
	const struct profile *profile;
	struct blend_problem problem;

	if (header.len > 0) {
		choice.asked = ASKED_LOCKED;
		if (!policy->lock_strategy)
			choice.strategy = blend_strategy(policy, header, room, &problem);
		if (choice.strategy)
			choice.asked = ASKED_TAKEN;
		else if (!policy->lock_strategy)
			choice.asked = ASKED_UNKNOWN;
	}
	if (choice.strategy || policy->profile_count == 0)
		return choice;
	profile = profile_of(policy, model->own);
	if (model->base.len > 0 && (!profile || profile->model[0] == '\0'))
		profile = profile_of(policy, model->base);
	choice.strategy = profile ? by_length(profile, tokens) : NULL;
	choice.by_profile = choice.strategy != NULL;
	return choice;
}
