/* charge.c - seconds of prefill and of decoding, as far as they are known. */
#include "policies/charge.h"

#include "policies/core/strategy.h"
#include "policies/signals/signals.h"

static const double tpot_unknown_ms = 20;

static bool reads_recent(const struct level_trace *trace)
{
	const struct weighing *weighings =
	        trace->walked && trace->asked ? trace->asked->weighings : NULL;

	for (size_t i = 0; weighings && i < WEIGHINGS_MAX && weighings[i].signal; i++) {
		if (weighings[i].signal == &signal_preble)
			return true;
	}
	return false;
}

static void charge(struct facts *facts, const struct reservation *reservation,
                   const struct instance *instance, uint32_t target)
{
	const struct prompt *prompt = reservation->prompt;
	const struct candidate *chosen = reservation->chosen;
	double uncached = chosen ? chosen->uncached_tokens : prompt->tokens;
	double each = tpot_unknown_ms;

	(void)rates_tpot(facts->rates, target, reservation->now, &each);
	recent_add(facts->recent, target,
	           uncached * ttft_fit_line(facts->ttft_fits, instance, target).slope +
	                   prompt->output_tokens * each / 1e3,
	           reservation->now);
}

void charge_recent(struct facts *facts, const struct reservation *reservation,
                   const struct decision *decision)
{
	if (reads_recent(&decision->levels[0]) || reads_recent(&decision->levels[1]))
		recent_want(facts->recent, reservation->now);
	if (!recent_wanted(facts->recent, reservation->now))
		return;
	charge(facts, reservation, decision->instance, decision->instance->target->id);
	if (decision->replica)
		charge(facts, reservation, decision->instance, decision->replica->target->id);
}
