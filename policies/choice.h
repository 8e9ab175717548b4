/* choice.h - which strategy a request gets, where it is not simply its rule's.
 *
 * A header of the client counts most, unless the policy is locked; then the profile of the
 * model, by the length of the prompt; then the rule or instance (which have the defaults where
 * they say nothing). A header that names nothing is as if it were not there. */
#pragma once

#include "policies/blend.h"
#include "policies/core/model_names.h"
#include "policies/core/route.h"

struct choice {
	const struct strategy *strategy; /* NULL: as the chain says */
	enum asked_strategy asked;
	bool by_profile;
};

/* header: what was asked for, empty for nothing. model: of an adapter without a profile
 * of its own its base's counts. tokens: of the
 * prompt. room: where the strategy is made, if it has to be. */
struct choice choice_of(const struct policy *policy, struct span header,
                        const struct model_names *model, double tokens, struct blend *room);
