/* spill.c - a lead in load against the prefill that is saved.
 *
 * The longer the prefix, the larger the lead it may cost; a request in flight is
 * worth some 3500 tokens of prefill. A lead of four requests, or of the root of
 * the mean load, is noise. What waits for prefill has a bound of its own: it is
 * what the next prompt really stands behind. */
#include "policies/stages/spill.h"

#include <math.h>

#include "policies/stages/scratch.h"

static const double request_tokens = 3500;  /* prefill that one request in flight is worth */
static const double gap_least = 4;          /* requests */
static const double waiting_times = 1.5;    /* of the mean prefill */
static const double waiting_tokens = 30720; /* on top of it */
static const double rounding = 1e-9;

struct spill_bar spill_bar_of(const struct walk *walk,
                              bool (*holds)(const struct candidate *candidate, const void *data),
                              const void *data)
{
	struct spill_bar bar = { .others = false };

	for (size_t i = 0; i < walk->standing; i++) {
		const struct candidate *candidate = &walk->pool[i];

		bar.running += candidate->running_scored / (double)walk->standing;
		bar.prefill += candidate->prefill_tokens / (double)walk->standing;
		if (holds(candidate, data))
			continue;
		if (bar.others && candidate->running_scored >= bar.idlest)
			continue;
		bar.others = true;
		bar.idlest = candidate->running_scored;
		bar.idlest_matched = candidate->matched;
	}
	return bar;
}

/* The part of its scored load that these requests make. */
static double scored(const struct candidate *holder, double own)
{
	double requests = own / holder->engines;

	return holder->running > 0 ? requests * holder->running_scored / holder->running : 0;
}

bool spill_over(const struct walk *walk, const struct candidate *holder,
                const struct spill_bar *bar, double own)
{
	double allowed = gap_least;
	double saved;

	if (holder->prefill_tokens > waiting_times * bar->prefill + waiting_tokens)
		return true;
	if (!bar->others)
		return false;
	saved = (holder->matched - bar->idlest_matched) * walk->scratch->tokens_per_byte /
	        request_tokens;
	allowed = saved > allowed ? saved : allowed;
	allowed = sqrt(bar->running) > allowed ? sqrt(bar->running) : allowed;
	return holder->running_scored - scored(holder, own) - bar->idlest > allowed + rounding;
}
