/* rules.c - the most specific rule wins. */
#include "policies/rules.h"

#include <string.h>

/* How specific the match is; 0 for none. */
static size_t match(const char *pattern, struct span model)
{
	size_t len = strlen(pattern);

	if (len == 0)
		return 1;
	if (pattern[len - 1] == '*')
		return model.len >= len - 1 && memcmp(pattern, model.at, len - 1) == 0 ? len + 1
		                                                                       : 0;
	return model.len == len && memcmp(pattern, model.at, len) == 0 ? NAME_MAX_BYTES + 2 : 0;
}

const struct rule *rule_for(const struct policy *policy, struct span model)
{
	const struct rule *best = &policy->default_rule;
	size_t best_match = 0;

	for (uint32_t i = 0; i < policy->rule_count; i++) {
		size_t specific = match(policy->rules[i].model, model);

		if (specific <= best_match)
			continue;
		best = &policy->rules[i];
		best_match = specific;
	}
	return best;
}
