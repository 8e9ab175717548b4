/* health.h - whom requests may be sent to, by what became of earlier ones.
 *
 * Busy is held apart from broken: who says it is busy is left alone as long as it
 * asks. Who fails again and again is ejected for a while, is probed, gets one
 * request at a time on trial, and comes back slowly.
 * Nothing here knows of pools: the functions that return an eject_cause only say
 * that there is reason enough; policies/ejection.h does it, or refuses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"

struct health;
struct health_policy;

enum outcome_class {
	CLASS_OK,
	CLASS_CLIENT,  /* the client left: says nothing of the target */
	CLASS_BUSY,    /* 429 or 503 of the engine, queue timeout */
	CLASS_FAILURE, /* connect error, cut stream, timeout, other 5xx */
	CLASS_DENIED,  /* 401 or 403: the caller's credential is bad, or the fleet's own */
	CLASS_LOCAL,   /* HAProxy or we answered: says nothing of the target */
};

/* HEALTH_STATE(id, name). Suspect for a second and busy come on top. */
#define HEALTH_STATES(HEALTH_STATE)                                                                \
	HEALTH_STATE(UP, "up")                                                                     \
	HEALTH_STATE(RAMP, "ramp")       /* in service, new or back: not yet with its full part */ \
	HEALTH_STATE(STALLED, "suspect") /* requests wait, nothing comes */                        \
	HEALTH_STATE(EJECTED, "ejected") /* nothing is sent there */                               \
	HEALTH_STATE(HALF_OPEN, "half-open") /* a few requests at a time, on trial */
#define AS_STATE(id, ...) HEALTH_##id,
enum health_state { HEALTH_STATES(AS_STATE) HEALTH_STATE_COUNT };
#undef AS_STATE
extern const char *const health_state_names[HEALTH_STATE_COUNT];

/* EJECT(id, name): why. */
#define EJECT_CAUSES(EJECT)                                                                        \
	EJECT(ROW, "consecutive") /* eject-after failures in a row */                              \
	EJECT(SHARE, "ratio")     /* too many among the last outcomes */                           \
	EJECT(TRIAL, "half-open") /* a request on trial failed */                                  \
	EJECT(STALL, "stall")     /* a request on trial got no answer */                           \
	EJECT(PROBE, "probe")     /* it was suspect, and the probe failed */                       \
	EJECT(PEER, "peer")       /* another agent ejected it */
#define AS_CAUSE(id, ...) EJECT_##id,
enum eject_cause { EJECT_CAUSES(AS_CAUSE) EJECT_NONE, EJECT_CAUSE_COUNT = EJECT_NONE };
#undef AS_CAUSE
extern const char *const eject_cause_names[EJECT_CAUSE_COUNT];

/* What the policy makes of an outcome, where it says so (eject-on). */
enum judged {
	JUDGED_BY_CLASS,
	JUDGED_FAILURE, /* it counts, whatever the class */
	JUDGED_SPARED,  /* it does not */
};

/* What became of one request at one target. */
struct report {
	uint32_t target;
	enum outcome_class class;
	enum judged judged;
	bool connect;         /* the connection was refused or failed: suspect for a second */
	bool retried;         /* ... or something else that HAProxy tried again elsewhere, perhaps
	                       * only that it is busy: a reason only if it finishes nothing */
	uint32_t retry_after; /* seconds the engine asked for; 0 = none said (held back for 1 s,
	                       * at most for 10 s) */
	uint64_t prompt;      /* hashes; repeats of one prompt by one tenant count once; */
	uint64_t tenant;      /* 0 = not known: counts */
	uint32_t trial;       /* of health_trial_begin(); 0 = none */
};

/* The policy must outlive it, or be replaced before. NULL when out of memory. */
MUST_CHECK struct health *health_new(uint32_t targets, const struct health_policy *policy);
void health_free(struct health *health);
void health_set_policy(struct health *health, const struct health_policy *policy);
void health_forget(struct health *health, uint32_t target);

enum eject_cause health_note(struct health *health, const struct report *report, usec_t now);
/* Out it goes, whatever it was: twice as long as the last time, unless it has been
 * in service for long. */
void health_eject(struct health *health, uint32_t target, usec_t now);
/* Out it goes because another agent says so, for so long at least; then as after any ejection. It
 * does not make the next one longer. */
void health_eject_told(struct health *health, uint32_t target, usec_t length, usec_t now);
/* It is out only because another agent said so. */
bool health_told(const struct health *health, uint32_t target);
/* Back into service, with a ramp; to be called only while it is out. */
void health_restore(struct health *health, uint32_t target, usec_t now);
/* How much longer it is ejected at least; 0: it is not. */
usec_t health_ejected_for(const struct health *health, uint32_t target, usec_t now);
/* Answer of a probe. Counts only while it is ejected or stalled. */
enum eject_cause health_probed(struct health *health, uint32_t target, bool good, usec_t now);

/* Whether requests wait there for their first byte; to be told every second or so.
 * True when none has come for too long: it is stalled now; if it is half-open
 * there is reason to eject it (EJECT_STALL). */
bool health_waits(struct health *health, uint32_t target, bool waits, usec_t now);
/* Something of an answer came from there. */
void health_progress(struct health *health, uint32_t target, usec_t now);
/* ... namely the first byte of a request; trial: its. */
void health_first_byte(struct health *health, uint32_t target, uint32_t trial, usec_t now);

/* A request is sent there: 0, or its number if it is one on trial, to be handed
 * back once, when it has ended or moved elsewhere. silent: without a first byte. */
uint32_t health_trial_begin(struct health *health, uint32_t target, usec_t now);
void health_trial_over(struct health *health, uint32_t target, uint32_t trial, bool silent);

/* New since then: it comes to its full part as health_ramped() says. */
void health_welcome(struct health *health, uint32_t target, usec_t since);
/* Progress 0..1; 1: no ramp (any more). */
double health_ramped(const struct health *health, uint32_t target, usec_t now);

enum health_state health_state(const struct health *health, uint32_t target, usec_t now);
/* It is out of service because requests waited there in vain: that its page says it is
 * well does not prove that it computes. */
bool health_silent(const struct health *health, uint32_t target);
/* How often in a row it was ejected; 0 = never. */
uint32_t health_ejections(const struct health *health, uint32_t target);
/* Requests may be sent there: not suspect, stalled or ejected; half-open with room. */
bool health_takes(const struct health *health, uint32_t target, usec_t now);
/* A connect error, less than a second ago. */
bool health_suspect(const struct health *health, uint32_t target, usec_t now);
bool health_backing_off(const struct health *health, uint32_t target, usec_t now);
/* 0..1: F / (N + 2), decayed over 30 s. */
double health_failures(const struct health *health, uint32_t target, usec_t now);

/* Whether it is worth asking: false when it is so of no target. */
bool health_any_out(const struct health *health, usec_t now); /* health_takes() is false */
bool health_any_backing_off(const struct health *health, usec_t now);
bool health_any_failures(const struct health *health, usec_t now);
bool health_any_ramping(const struct health *health, usec_t now);
