/* headroom.c - predictions against objectives; the worst counts. */
#include "policies/signals/headroom.h"

#include "policies/signals/signals.h"
#include "policies/state/facts.h"

struct prediction {
	double ms;
	bool trusted;
};

static bool line_is_trusted(const struct walk *walk, const struct candidate *candidate)
{
	return ttft_fit_line(walk->facts->ttft_fits, candidate->instance, candidate->target->id)
	        .trusted;
}

static bool predict_ttft(const struct walk *walk, const struct candidate *candidate,
                         struct prediction *ret_prediction)
{
	ret_prediction->trusted = line_is_trusted(walk, candidate);
	return signal_predicted_ttft.read(walk, candidate, &ret_prediction->ms);
}

static bool predict_tpot(const struct walk *walk, const struct candidate *candidate,
                         struct prediction *ret_prediction)
{
	ret_prediction->trusted = true; /* it is measured, and not older than a minute */
	return rates_tpot(walk->facts->rates, candidate->target->id, walk->now,
	                  &ret_prediction->ms);
}

static bool predict_e2e(const struct walk *walk, const struct candidate *candidate,
                        struct prediction *ret_prediction)
{
	const struct latency *latency = averages_of(walk->facts->averages, candidate->target->id);
	double each;

	ret_prediction->trusted =
	        rates_tpot(walk->facts->rates, candidate->target->id, walk->now, &each)
	                ? line_is_trusted(walk, candidate)
	                : average_trusted(&latency->e2e_ms, walk->now);
	return signal_latency.read(walk, candidate, &ret_prediction->ms);
}

/* One more objective: true if it is the worst so far. */
static bool hold_against(const struct prediction *prediction, double objective_ms, bool first,
                         struct headroom *headroom)
{
	double value = 1 - prediction->ms / objective_ms;

	if (!first && value >= headroom->value)
		return false;
	headroom->value = value;
	headroom->trusted = prediction->trusted;
	headroom->late_ms = value < 0 ? prediction->ms - objective_ms : 0;
	return true;
}

bool headroom_read(const struct walk *walk, const struct candidate *candidate,
                   struct headroom *ret_headroom)
{
	const struct objectives *objectives = &walk->prompt->objectives;
	struct headroom headroom = { .value = 1 };
	struct prediction prediction = { .ms = 0 };
	bool known = false;

	if (objectives->ttft_ms > 0 && predict_ttft(walk, candidate, &prediction))
		known = hold_against(&prediction, objectives->ttft_ms, true, &headroom);
	if (objectives->tpot_ms > 0 && predict_tpot(walk, candidate, &prediction)) {
		if (hold_against(&prediction, objectives->tpot_ms, !known, &headroom))
			headroom.late_ms = 0; /* waiting does not mend it */
		known = true;
	}
	if (objectives->e2e_ms > 0 && predict_e2e(walk, candidate, &prediction)) {
		(void)hold_against(&prediction, objectives->e2e_ms, !known, &headroom);
		known = true;
	}
	if (known)
		*ret_headroom = headroom;
	return known;
}
