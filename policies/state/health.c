/* health.c - what each outcome says, in deadlines and fading sums for each target. */
#include "policies/state/health.h"

#include <math.h>
#include <stdlib.h>

#include "policies/state/health_parts.h"

static const double fade_s = 30;
static const usec_t suspect_for = SECOND;
static const usec_t forgotten_after = 600 * SECOND; /* failures: faded to nothing */

enum { RETRY_AFTER_NONE = 1, RETRY_AFTER_MAX = 10 }; /* seconds */

struct health *health_new(uint32_t targets, const struct health_policy *policy)
{
	struct health *health = calloc(1, sizeof(*health));

	BUG_ON(targets == 0);
	if (!health)
		return NULL;
	health->policy = policy;
	health->targets = targets;
	health->of = calloc(targets, sizeof(*health->of));
	if (!health->of) {
		health_free(health);
		return NULL;
	}
	return health;
}

void health_free(struct health *health)
{
	if (!health)
		return;
	free(health->of);
	free(health);
}

static void hold_back(struct record *record, uint32_t retry_after, usec_t now)
{
	uint32_t seconds = retry_after == 0 ? RETRY_AFTER_NONE : retry_after;
	usec_t until;

	if (seconds > RETRY_AFTER_MAX)
		seconds = RETRY_AFTER_MAX;
	until = now + seconds * SECOND;
	record->busy_until = later_of(record->busy_until, until);
}

/* A busy answer is a failure only of a target that finishes nothing. */
static bool is_failure(struct record *record, const struct report *report, usec_t now)
{
	if (report->judged != JUDGED_BY_CLASS)
		return report->judged == JUDGED_FAILURE;
	if (report->class == CLASS_BUSY)
		return record->finished_at != 0 && finishes_nothing(record, now);
	if (report->class == CLASS_DENIED)
		return evidence_denied(record, report->tenant);
	return report->class == CLASS_FAILURE;
}

static void count(struct health *health, struct record *record, bool failed, usec_t now)
{
	double kept = exp(-seconds_between(record->at, now) / fade_s);

	record->failures = record->failures * kept + failed;
	record->outcomes = record->outcomes * kept + 1;
	record->at = now;
	if (failed)
		health->failing_until = now + forgotten_after;
}

static void set_deadlines(struct health *health, struct record *record, const struct report *report,
                          usec_t now)
{
	if (report->class == CLASS_OK)
		record->finished_at = now;
	if (report->class == CLASS_BUSY)
		hold_back(record, report->retry_after, now);
	if (report->class == CLASS_FAILURE && report->connect)
		record->suspect_until = now + suspect_for;
	health->suspect_until = later_of(health->suspect_until, record->suspect_until);
	health->busy_until = later_of(health->busy_until, record->busy_until);
}

enum eject_cause health_note(struct health *health, const struct report *report, usec_t now)
{
	struct record *record = record_of(health, report->target);
	bool failed;

	if (report->class == CLASS_CLIENT || report->class == CLASS_LOCAL)
		return EJECT_NONE;
	health_settle(health, record, now);
	failed = is_failure(record, report, now);
	count(health, record, failed, now);
	set_deadlines(health, record, report, now);
	if (failed)
		return evidence_failure(health, record, report, now);
	evidence_good(record, report->class, now);
	if (report->class == CLASS_OK && record->state == HEALTH_HALF_OPEN &&
	    report->trial == record->trial)
		health_trial_good(health, record, now);
	return EJECT_NONE;
}

bool health_any_backing_off(const struct health *health, usec_t now)
{
	return now < health->busy_until;
}

bool health_any_failures(const struct health *health, usec_t now)
{
	return now < health->failing_until;
}

bool health_suspect(const struct health *health, uint32_t target, usec_t now)
{
	return now < record_of(health, target)->suspect_until;
}

bool health_backing_off(const struct health *health, uint32_t target, usec_t now)
{
	return now < record_of(health, target)->busy_until;
}

double health_failures(const struct health *health, uint32_t target, usec_t now)
{
	const struct record *record = record_of(health, target);
	double kept;

	/* On trial it begins anew: what it did before must not keep the trials away. */
	if (record->failures <= 0 || health_state(health, target, now) == HEALTH_HALF_OPEN)
		return 0;
	kept = exp(-seconds_between(record->at, now) / fade_s);
	return record->failures * kept / (record->outcomes * kept + 2);
}

void health_set_policy(struct health *health, const struct health_policy *policy)
{
	health->policy = policy;
}

void health_forget(struct health *health, uint32_t target)
{
	struct record *record = record_of(health, target);

	health->out -= record->state != HEALTH_UP;
	*record = (struct record){ 0 };
}
