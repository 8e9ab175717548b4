/* health_parts.h - what the files health*.c share. Nobody else includes it. */
#pragma once

#include "policies/core/bug.h"
#include "policies/core/policy.h"
#include "policies/state/health.h"

enum { REPEATS = 8 };

/* A prompt of a tenant that failed. */
struct failed_prompt {
	uint64_t key;
	usec_t at; /* last time; 0 = unused */
};

/* What speaks for an ejection, gathered since it last came into service. */
struct evidence {
	uint32_t in_a_row;
	double failures, outcomes; /* as of at */
	usec_t at;
	struct failed_prompt repeats[REPEATS];
	uint32_t next_repeat;
	uint32_t denied;        /* tenants since the last good answer: 0, 1, or 2 for more */
	uint64_t denied_tenant; /* the first */
};

struct record {
	usec_t suspect_until, busy_until;
	double failures, outcomes; /* as of at */
	usec_t at;
	usec_t finished_at; /* last answer that was in order; 0 = none yet */

	enum health_state state; /* RAMP is UP, and EJECTED may be HALF_OPEN by now */
	uint32_t ejections;      /* in a row */
	usec_t until;            /* EJECTED: at least */
	usec_t up_since;         /* after an ejection and its ramp; 0 = never ejected */
	uint32_t probes_good;    /* in a row */
	bool told;               /* out because another agent said so */
	bool silent;             /* out because nothing came: a page proves nothing */
	uint32_t trial;          /* number of those of this time; 0 = not half-open */
	uint32_t trials, trials_silent, trials_good;
	usec_t new_since;           /* as last told; 0 = never */
	usec_t ramp_from, ramp_for; /* ramp_for 0: none */
	uint32_t first_bytes;       /* since ramp_from */
	usec_t waits_since;         /* 0 = nobody waits */
	usec_t progress_at;

	struct evidence evidence;
};

struct health {
	const struct health_policy *policy;
	uint32_t targets;
	struct record *of;
	uint32_t out;        /* STALLED, EJECTED, HALF_OPEN */
	uint32_t last_trial; /* number given last */
	usec_t suspect_until, busy_until, failing_until, ramping_until; /* the latest of all */
};

static inline struct record *record_of(const struct health *health, uint32_t target)
{
	BUG_ON(target >= health->targets);
	return &health->of[target];
}

/* Nothing in order came from it for 10 s: "busy" is no excuse any more. */
static inline bool finishes_nothing(const struct record *record, usec_t now)
{
	return now - record->finished_at > 10 * SECOND;
}

static inline usec_t later_of(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

/* health_state.c: an ejection whose time is up becomes what it is. */
void health_settle(struct health *health, struct record *record, usec_t now);
/* health_state.c: one more good answer on trial. */
void health_trial_good(struct health *health, struct record *record, usec_t now);
/* health_evidence.c: the failure counts, and then there may be reason enough. */
enum eject_cause evidence_failure(const struct health *health, struct record *record,
                                  const struct report *report, usec_t now);
void evidence_good(struct record *record, enum outcome_class class, usec_t now);
/* Since the last good answer another tenant was denied as well. */
bool evidence_denied(struct record *record, uint64_t tenant);
