/* top_k.c - chance among the k least loaded that are about as loaded as the least. */
#include "policies/core/bug.h"
#include "policies/pickers/least.h"
#include "policies/pickers/pickers.h"

static const double rounding = 1e-9;

struct settings {
	uint32_t k;
	int by; /* enum load_by */
	double epsilon;
};

static size_t pick(struct walk *walk, const void *settings)
{
	const struct settings *top_k = settings;
	struct least least[LEAST_MAX];
	size_t eligible = 0;
	size_t taken;

	taken = least_loaded(walk, (enum load_by)top_k->by, top_k->k, least);
	BUG_ON(taken == 0);
	while (eligible < taken && (top_k->epsilon < 0 || least[eligible].load - least[0].load <=
	                                                          top_k->epsilon + rounding))
		eligible++;
	return least[rng_below(walk->rng, eligible)].at;
}

static const struct option options[] = {
	{ "k", OPTION_COUNT, offsetof(struct settings, k), 1, LEAST_MAX, 5, "targets",
	  "How many of the least loaded targets take part in the draw.", NULL, false },
	{ "epsilon", OPTION_NUMBER, offsetof(struct settings, epsilon), -1, 1e6, 4, "requests",
	  "How much more loaded than the least a target may be; negative for no such rule.", NULL,
	  false },
	{ "by", OPTION_CHOICE, offsetof(struct settings, by), 0, BY_LOAD_BALANCE, BY_RUNNING, "",
	  "What load is measured by.", LOAD_BY_CHOICES, false },
	{ 0 },
};

const struct picker picker_top_k = {
	.name = "top-k",
	.help = "Draws among the k least loaded targets that are about as loaded as the least.",
	.pick = pick,
	.settings_size = sizeof(struct settings),
	.options = options,
};
