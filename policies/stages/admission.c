/* admission.c - keep the candidates that may take one more request.
 *
 * A candidate is admitted while every number we know of it, this request
 * counted, is within its limit. Two exceptions, both from the cost of being
 * wrong:
 *
 *  - A candidate that holds the prompt in its cache skips that much prefill, so
 *    it is cheaper at the same load: its limits stretch with the share it holds.
 *    They do not vanish, so a hot prefix spills over instead of burying one
 *    target.
 *  - A candidate that runs almost nothing is admitted whatever its averages
 *    say. They are history; only new requests can correct them.
 *
 * What is not known admits: we refuse on evidence, never for lack of it.
 *
 * A client that says how long it waits is not sent where it would wait longer. */
#include "policies/stages/admission.h"

#include "policies/core/policy.h"
#include "policies/stages/load.h"
#include "policies/stages/patience.h"
#include "policies/stages/stages.h"
#include "policies/state/facts.h"

static const double rounding = 1e-9;
static const struct load unknown = { -1, -1, -1, -1, 0 };

/* Not known is negative: within. */
static bool within(double value, double limit, double relax)
{
	return limit <= 0 || value <= limit * relax + rounding;
}

/* With this request; of an instance, its part for one engine. */
static double running_then(const struct candidate *candidate)
{
	return candidate->running + 1.0 / candidate->engines;
}

static const struct load *load_of(const struct candidate *candidate)
{
	return candidate->load ? candidate->load : &unknown;
}

bool admission_admits(const struct walk *walk, const struct candidate *candidate, double relax)
{
	const struct entry_policy *entry = walk->entry;
	const struct limits *admit = &entry->admit;
	const struct load *load = load_of(candidate);
	double share = candidate->hit ? candidate_share(candidate, walk->prompt) : 0;
	double stretch = 1 + (entry->relax_on_hit - 1) * share;

	relax = stretch > relax ? stretch : relax;

	if (health_backing_off(walk->facts->health, candidate->target->id, walk->now))
		return false;
	if (candidate->running < entry->prefer_serving_below - rounding)
		return true;
	return patience_excess_ms(walk, candidate) <= 0 &&
	       within(running_then(candidate), admit->running, relax) &&
	       within(load->pending, admit->pending, relax) &&
	       within(load->ttft_ms, admit->ttft_ms, relax) &&
	       within(load->e2e_ms, admit->e2e_ms, relax) &&
	       within(load->kv_usage, admit->kv_usage, 1);
}

/* Who keeps a session has its context, whether the index knows or not. */
static bool keeps_session(const struct walk *walk, const struct candidate *candidate)
{
	return walk->session.kept && candidate->target->id == walk->session.target;
}

static bool admits(const struct walk *walk, const struct candidate *candidate)
{
	return admission_admits(walk, candidate,
	                        keeps_session(walk, candidate) ? walk->entry->relax_on_hit : 1);
}

/* The limit from which a request may be refused; 0 for none. */
static double hard(double set, double admit, double relax)
{
	return set > 0 ? set : admit * relax;
}

static double hard_running(const struct entry_policy *entry)
{
	return hard(entry->hard.running, entry->admit.running, entry->relax_on_hit);
}

bool admission_over_hard(const struct walk *walk, const struct candidate *candidate)
{
	const struct entry_policy *entry = walk->entry;
	const struct limits *admit = &entry->admit;
	const struct load *load = load_of(candidate);
	double relax = entry->relax_on_hit;

	if (health_backing_off(walk->facts->health, candidate->target->id, walk->now) ||
	    patience_excess_ms(walk, candidate) > 0)
		return true;
	if (!within(running_then(candidate), hard_running(entry), 1) &&
	    load_trusts_running(walk, candidate))
		return true;
	if (!within(load->ttft_ms, hard(entry->hard.ttft_ms, admit->ttft_ms, relax), 1) &&
	    load_trusts_ttft(walk, candidate))
		return true;
	if (!within(load->e2e_ms, hard(entry->hard.e2e_ms, admit->e2e_ms, relax), 1) &&
	    load_trusts_e2e(walk, candidate))
		return true;
	/* These two are unknown when they are not fresh. */
	return !within(load->pending, hard(entry->hard.pending, admit->pending, relax), 1) ||
	       !within(load->kv_usage, hard(entry->hard.kv_usage, admit->kv_usage, 1), 1);
}

double admission_wait_s(const struct walk *walk, const struct candidate *candidate)
{
	double limit = hard_running(walk->entry);
	double excess = (running_then(candidate) - limit) * candidate->engines;
	double rate = ledger_release_rate(walk->facts->ledger, candidate->target->id, walk->now);
	double late_s = patience_excess_ms(walk, candidate) / 1e3;

	if (late_s > 0)
		return late_s;
	return limit > 0 && excess > 0 && rate > 0 ? excess / rate : 0;
}

static bool needed(const struct walk *walk)
{
	const struct limits *admit = &walk->entry->admit;

	return admit->running > 0 || admit->pending > 0 || admit->ttft_ms > 0 ||
	       admit->e2e_ms > 0 || admit->kv_usage > 0 ||
	       health_any_backing_off(walk->facts->health, walk->now) || patience_matters(walk);
}

const struct stage stage_admission = {
	.name = "admission",
	.help = "Drops candidates whose load exceeds the limits of the entry.",
	.keep = admits,
	.needed = needed,
	.when_empty = { EMPTY_NEXT, EMPTY_NEXT },
	.per_entry = true,
};
