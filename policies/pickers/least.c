/* least.c - by insertion: k is small, and in a shuffled pool few get in. */
#include "policies/pickers/least.h"

#include "policies/core/bug.h"

/* What a token weighs in requests, so that both measures agree where all
 * requests are alike. */
static double request_per_token(const struct walk *walk)
{
	double running = 0, tokens = 0;

	for (size_t i = 0; i < walk->standing; i++) {
		running += walk->pool[i].running_scored;
		tokens += walk->pool[i].tokens;
	}
	return tokens > 0 ? running / tokens : 0;
}

size_t least_loaded(const struct walk *walk, enum load_by by, size_t k,
                    struct least ret_least[LEAST_MAX])
{
	double per_token = by == BY_TOKENS ? request_per_token(walk) : 0;
	size_t taken = 0;

	BUG_ON(k == 0 || k > LEAST_MAX);
	for (size_t i = 0; i < walk->standing; i++) {
		const struct candidate *candidate = &walk->pool[i];
		double load =
		        by == BY_TOKENS ? candidate->tokens * per_token : candidate->running_scored;
		size_t at = taken;

		if (taken == k && load >= ret_least[k - 1].load)
			continue;
		taken += taken < k;
		at = at == k ? k - 1 : at;
		for (; at > 0 && load < ret_least[at - 1].load; at--)
			ret_least[at] = ret_least[at - 1];
		ret_least[at] = (struct least){ i, load };
	}
	return taken;
}
