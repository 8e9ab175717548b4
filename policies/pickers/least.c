/* least.c - by insertion: k is small, and in a shuffled pool few get in. */
#include "policies/pickers/least.h"

#include <math.h>

#include "policies/core/bug.h"
#include "policies/signals/balance.h"

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

/* What every candidate is measured by. */
struct measure {
	enum load_by by;
	double per_token;
	struct balance balance;
};

static struct measure measure_of(const struct walk *walk, enum load_by by)
{
	struct measure measure = { .by = by };

	if (by == BY_TOKENS)
		measure.per_token = request_per_token(walk);
	if (by == BY_LOAD_BALANCE)
		measure.balance = balance_of(walk, true);
	return measure;
}

static double load_of(const struct measure *measure, const struct walk *walk,
                      const struct candidate *candidate)
{
	switch (measure->by) {
	case BY_RUNNING:
		return candidate->running_scored;
	case BY_TOKENS:
		return candidate->tokens * measure->per_token;
	case BY_LOAD_BALANCE:
		return balance_load(&measure->balance, walk, candidate);
	}
	BUG_ON(true);
}

size_t least_loaded(const struct walk *walk, enum load_by by, size_t k,
                    struct least ret_least[LEAST_MAX])
{
	struct measure measure = measure_of(walk, by);
	size_t taken = 0;

	BUG_ON(k == 0 || k > LEAST_MAX);
	for (size_t i = 0; i < walk->standing; i++) {
		const struct candidate *candidate = &walk->pool[i];
		double load = load_of(&measure, walk, candidate);
		size_t at = taken;

		if (taken == k && load >= ret_least[k - 1].load)
			continue;
		taken += taken < k;
		at = at == k ? k - 1 : at;
		for (; at > 0 && load < ret_least[at - 1].load; at--)
			ret_least[at] = ret_least[at - 1];
		ret_least[at] = (struct least){ i, load };
	}
	while (taken > 1 && isinf(ret_least[taken - 1].load) && !isinf(ret_least[0].load))
		taken--;
	return taken;
}
