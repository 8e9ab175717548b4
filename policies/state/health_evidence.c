/* health_evidence.c - when failures are reason enough, and whose do not count.
 *
 * A prompt that kills every engine, or a client with a bad key, must not take out
 * one replica after the other. So a prompt that fails again says nothing new: what
 * counts is that different ones do. Only connect errors cannot be a prompt's
 * fault. */
#include <math.h>

#include "policies/state/health_parts.h"

static const double fade_s = 30;
static const double rounding = 1e-9;
static const usec_t remembered = 300 * SECOND; /* a prompt that failed */

static bool is_repeat(struct evidence *evidence, const struct report *report, usec_t now)
{
	uint64_t key = report->prompt * 0x9e3779b97f4a7c15u + report->tenant;

	if (report->prompt == 0 || (report->connect && !report->retried))
		return false;
	for (int i = 0; i < REPEATS; i++) {
		struct failed_prompt *known = &evidence->repeats[i];

		if (known->at == 0 || known->key != key || now - known->at >= remembered)
			continue;
		known->at = now;
		return true;
	}
	evidence->repeats[evidence->next_repeat] = (struct failed_prompt){ key, now };
	evidence->next_repeat = (evidence->next_repeat + 1) % REPEATS;
	return false;
}

static void count(struct evidence *evidence, bool failed, usec_t now)
{
	double kept = exp(-seconds_between(evidence->at, now) / fade_s);

	evidence->failures = evidence->failures * kept + failed;
	evidence->outcomes = evidence->outcomes * kept + 1;
	evidence->at = now;
}

static bool is_often(const struct health_policy *policy, const struct evidence *evidence)
{
	return policy->eject_share > 0 && evidence->outcomes >= policy->eject_outcomes - rounding &&
	       evidence->failures >= policy->eject_share * evidence->outcomes - rounding;
}

enum eject_cause evidence_failure(const struct health *health, struct record *record,
                                  const struct report *report, usec_t now)
{
	const struct health_policy *policy = health->policy;
	struct evidence *evidence = &record->evidence;
	bool on_trial = report->trial != 0 && report->trial == record->trial;

	if (is_repeat(evidence, report, now))
		return EJECT_NONE;
	count(evidence, true, now);
	evidence->in_a_row++;
	if (record->state == HEALTH_EJECTED)
		return EJECT_NONE;
	/* What was sent there before says nothing new, unless it cannot connect now. */
	if (record->state == HEALTH_HALF_OPEN)
		return on_trial || (report->connect && !report->retried) ? EJECT_TRIAL : EJECT_NONE;
	/* HAProxy tries again what was refused for being full, too, and does not say why. */
	if (report->retried && record->finished_at != 0 && !finishes_nothing(record, now))
		return EJECT_NONE;
	if (policy->eject_after > 0 && evidence->in_a_row >= policy->eject_after)
		return EJECT_ROW;
	return is_often(policy, evidence) ? EJECT_SHARE : EJECT_NONE;
}

void evidence_good(struct record *record, enum outcome_class class, usec_t now)
{
	count(&record->evidence, false, now);
	if (class != CLASS_OK)
		return;
	record->evidence.in_a_row = 0;
	record->evidence.denied = 0;
}

bool evidence_denied(struct record *record, uint64_t tenant)
{
	struct evidence *evidence = &record->evidence;

	if (evidence->denied == 0) {
		evidence->denied = 1;
		evidence->denied_tenant = tenant;
	} else if (tenant != evidence->denied_tenant) {
		evidence->denied = 2;
	}
	return evidence->denied > 1;
}
