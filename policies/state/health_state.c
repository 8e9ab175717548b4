/* health_state.c - out of service, and back step by step.
 *
 * An ejection ends by itself: when its time is up, and as many probes in a row
 * were good, it is half-open, whoever looks first. Requests on trial are numbered
 * by the time they belong to, so that what was sent there before an ejection, and
 * ends long after, is not taken for one of them. */
#include "policies/state/health_parts.h"

#define AS_NAME(id, name) name,
const char *const health_state_names[HEALTH_STATE_COUNT] = { HEALTH_STATES(AS_NAME) };
const char *const eject_cause_names[EJECT_CAUSE_COUNT] = { EJECT_CAUSES(AS_NAME) };
#undef AS_NAME

static bool proven(const struct health *health, const struct record *record)
{
	return !health->policy->probe || record->probes_good >= health->policy->probe_successes;
}

static bool is_half_open(const struct health *health, const struct record *record, usec_t now)
{
	return record->state == HEALTH_HALF_OPEN ||
	       (record->state == HEALTH_EJECTED && now >= record->until && proven(health, record));
}

static void half_open(struct health *health, struct record *record)
{
	if (++health->last_trial == 0)
		health->last_trial = 1;
	record->state = HEALTH_HALF_OPEN;
	record->trial = health->last_trial;
	record->trials = record->trials_silent = record->trials_good = 0;
	record->waits_since = 0;
	record->evidence.in_a_row = 0;
	record->evidence.failures = record->evidence.outcomes = 0;
	record->failures = record->outcomes = 0;
}

void health_settle(struct health *health, struct record *record, usec_t now)
{
	if (record->state == HEALTH_EJECTED && is_half_open(health, record, now))
		half_open(health, record);
}

static void start_ramp(struct health *health, struct record *record, usec_t from, usec_t length)
{
	record->ramp_from = from;
	record->ramp_for = length;
	record->first_bytes = 0;
	health->ramping_until = later_of(health->ramping_until, from + length);
}

static void into_service(struct health *health, struct record *record)
{
	record->state = HEALTH_UP;
	record->silent = record->told = false;
	record->trial = 0;
	health->out--;
}

static void restore(struct health *health, struct record *record, usec_t now)
{
	into_service(health, record);
	start_ramp(health, record, now, health->policy->ramp_restored);
	record->up_since = now + health->policy->ramp_restored;
}

void health_restore(struct health *health, uint32_t target, usec_t now)
{
	struct record *record = record_of(health, target);

	BUG_ON(record->state == HEALTH_UP);
	restore(health, record, now);
}

void health_trial_good(struct health *health, struct record *record, usec_t now)
{
	if (++record->trials_good >= health->policy->trial_successes)
		restore(health, record, now);
}

static usec_t ejection_time(const struct health_policy *policy, uint32_t ejections)
{
	usec_t time = policy->ejection;

	for (uint32_t i = 1; i < ejections && time < policy->ejection_max; i++)
		time *= 2;
	return time < policy->ejection_max ? time : policy->ejection_max;
}

static void out_of_service(struct health *health, struct record *record, usec_t until, bool told)
{
	if (record->state == HEALTH_UP)
		health->out++;
	record->state = HEALTH_EJECTED;
	record->until = until;
	record->told = told;
	record->probes_good = 0;
	record->trial = record->trials = record->trials_silent = 0;
	record->ramp_for = 0;
}

void health_eject(struct health *health, uint32_t target, usec_t now)
{
	struct record *record = record_of(health, target);
	bool forgiven = record->state == HEALTH_UP &&
	                now >= record->up_since + health->policy->ejection_max;

	health_settle(health, record, now);
	record->ejections = forgiven ? 1 : record->ejections + 1;
	out_of_service(health, record, now + ejection_time(health->policy, record->ejections),
	               false);
}

void health_eject_told(struct health *health, uint32_t target, usec_t length, usec_t now)
{
	out_of_service(health, record_of(health, target), now + length, true);
}

bool health_told(const struct health *health, uint32_t target)
{
	return record_of(health, target)->told;
}

usec_t health_ejected_for(const struct health *health, uint32_t target, usec_t now)
{
	const struct record *record = record_of(health, target);

	return record->state == HEALTH_EJECTED && record->until > now ? record->until - now : 0;
}

enum eject_cause health_probed(struct health *health, uint32_t target, bool good, usec_t now)
{
	struct record *record = record_of(health, target);

	health_settle(health, record, now);
	if (record->state != HEALTH_EJECTED && record->state != HEALTH_STALLED)
		return EJECT_NONE;
	record->probes_good = good ? record->probes_good + 1 : 0;
	health_settle(health, record, now);
	return record->state == HEALTH_STALLED && !good ? EJECT_PROBE : EJECT_NONE;
}

static void stall(struct health *health, struct record *record)
{
	record->state = HEALTH_STALLED;
	record->silent = true;
	record->probes_good = 0;
	health->out++;
}

bool health_waits(struct health *health, uint32_t target, bool waits, usec_t now)
{
	struct record *record = record_of(health, target);
	usec_t after = health->policy->stall_after;

	health_settle(health, record, now);
	if (record->state == HEALTH_STALLED) {
		/* Nobody is left who could show that it is well again. */
		if (!waits && proven(health, record))
			half_open(health, record);
		return false;
	}
	if (record->state == HEALTH_HALF_OPEN)
		waits = record->trials_silent > 0;
	if (!waits)
		record->waits_since = 0;
	else if (record->waits_since == 0)
		record->waits_since = now;
	if (!waits || after == 0 || record->state == HEALTH_EJECTED ||
	    now < later_of(record->waits_since, record->progress_at) + after)
		return false;
	record->silent = true;
	if (record->state == HEALTH_UP)
		stall(health, record);
	return true;
}

void health_progress(struct health *health, uint32_t target, usec_t now)
{
	struct record *record = record_of(health, target);

	record->progress_at = now;
	if (record->state == HEALTH_STALLED)
		into_service(health, record);
}

void health_first_byte(struct health *health, uint32_t target, uint32_t trial, usec_t now)
{
	struct record *record = record_of(health, target);

	record->first_bytes++;
	if (trial != 0 && trial == record->trial && record->trials_silent > 0)
		record->trials_silent--;
	health_progress(health, target, now);
}

uint32_t health_trial_begin(struct health *health, uint32_t target, usec_t now)
{
	struct record *record;

	if (health->out == 0)
		return 0;
	record = record_of(health, target);
	health_settle(health, record, now);
	if (record->state != HEALTH_HALF_OPEN)
		return 0;
	record->trials++;
	record->trials_silent++;
	return record->trial;
}

void health_trial_over(struct health *health, uint32_t target, uint32_t trial, bool silent)
{
	struct record *record = record_of(health, target);

	if (trial == 0 || trial != record->trial)
		return;
	record->trials -= record->trials > 0;
	record->trials_silent -= silent && record->trials_silent > 0;
}

void health_welcome(struct health *health, uint32_t target, usec_t since)
{
	struct record *record = record_of(health, target);

	if (record->new_since == since)
		return;
	record->new_since = since;
	if (record->state == HEALTH_UP)
		start_ramp(health, record, since, health->policy->ramp);
}

double health_ramped(const struct health *health, uint32_t target, usec_t now)
{
	const struct record *record = record_of(health, target);
	double by_time, by_requests;

	if (record->ramp_for == 0 || now >= record->ramp_from + record->ramp_for)
		return 1;
	by_time = seconds_between(record->ramp_from, now) / ((double)record->ramp_for / 1e6);
	by_requests = record->first_bytes / health->policy->ramp_requests;
	by_time = by_requests > by_time ? by_requests : by_time;
	return by_time < 1 ? by_time : 1;
}

enum health_state health_state(const struct health *health, uint32_t target, usec_t now)
{
	const struct record *record = record_of(health, target);

	if (is_half_open(health, record, now))
		return HEALTH_HALF_OPEN;
	if (record->state == HEALTH_UP && health_ramped(health, target, now) < 1)
		return HEALTH_RAMP;
	return record->state;
}

bool health_silent(const struct health *health, uint32_t target)
{
	return record_of(health, target)->silent;
}

uint32_t health_ejections(const struct health *health, uint32_t target)
{
	return record_of(health, target)->ejections;
}

bool health_takes(const struct health *health, uint32_t target, usec_t now)
{
	const struct record *record = record_of(health, target);

	if (!health_any_out(health, now))
		return true; /* mostly; and the record need not be read */
	if (now < record->suspect_until)
		return false;
	if (record->state == HEALTH_UP)
		return true;
	return is_half_open(health, record, now) &&
	       record->trials < health->policy->probe_concurrent;
}

bool health_any_out(const struct health *health, usec_t now)
{
	return health->out > 0 || now < health->suspect_until;
}

bool health_any_ramping(const struct health *health, usec_t now)
{
	return now < health->ramping_until;
}
