/* health.c - two deadlines and two fading sums for each target. */
#include "policies/state/health.h"

#include <math.h>
#include <stdlib.h>

#include "policies/core/bug.h"

static const double fade_s = 30;
static const usec_t suspect_for = SECOND;
static const usec_t finished_nothing = 10 * SECOND;
static const usec_t forgotten_after = 600 * SECOND; /* failures: faded to nothing */

enum { RETRY_AFTER_NONE = 1, RETRY_AFTER_MAX = 10 }; /* seconds */

struct record {
	usec_t suspect_until, busy_until;
	double failures, outcomes; /* as of at */
	usec_t at;
	usec_t finished_at; /* last answer that was in order; 0 = none yet */
};

struct health {
	uint32_t targets;
	struct record *of;
	usec_t suspect_until, busy_until, failing_until; /* the latest of all */
};

struct health *health_new(uint32_t targets)
{
	struct health *health = calloc(1, sizeof(*health));

	BUG_ON(targets == 0);
	if (!health)
		return NULL;
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

static struct record *record_of(const struct health *health, uint32_t target)
{
	BUG_ON(target >= health->targets);
	return &health->of[target];
}

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

static void hold_back(struct record *record, uint32_t retry_after, usec_t now)
{
	uint32_t seconds = retry_after == 0 ? RETRY_AFTER_NONE : retry_after;
	usec_t until;

	if (seconds > RETRY_AFTER_MAX)
		seconds = RETRY_AFTER_MAX;
	until = now + seconds * SECOND;
	record->busy_until = later(record->busy_until, until);
}

/* A busy answer is a failure only of a target that finishes nothing. */
static bool is_failure(const struct record *record, enum outcome_class class, usec_t now)
{
	if (class == CLASS_BUSY)
		return record->finished_at != 0 && now - record->finished_at > finished_nothing;
	return class == CLASS_FAILURE;
}

void health_note(struct health *health, uint32_t target, enum outcome_class class, bool connect,
                 uint32_t retry_after, usec_t now)
{
	struct record *record = record_of(health, target);
	double kept = exp(-seconds_between(record->at, now) / fade_s);

	if (class == CLASS_CLIENT || class == CLASS_LOCAL)
		return;
	record->failures = record->failures * kept + is_failure(record, class, now);
	record->outcomes = record->outcomes * kept + 1;
	record->at = now;
	if (is_failure(record, class, now))
		health->failing_until = now + forgotten_after;
	if (class == CLASS_OK)
		record->finished_at = now;
	if (class == CLASS_BUSY)
		hold_back(record, retry_after, now);
	if (class == CLASS_FAILURE && connect)
		record->suspect_until = now + suspect_for;
	health->suspect_until = later(health->suspect_until, record->suspect_until);
	health->busy_until = later(health->busy_until, record->busy_until);
}

bool health_any_suspect(const struct health *health, usec_t now)
{
	return now < health->suspect_until;
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

	if (record->failures <= 0)
		return 0;
	kept = exp(-seconds_between(record->at, now) / fade_s);
	return record->failures * kept / (record->outcomes * kept + 2);
}

void health_forget(struct health *health, uint32_t target)
{
	*record_of(health, target) = (struct record){ 0 };
}
