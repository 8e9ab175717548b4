/* health.h - what feedback has seen of a target's failures.
 *
 * The first connect error makes a target suspect for a second; an engine that
 * says it is busy is held back for as long as it asked. Ejection, probes and
 * half-open come on top of the same table (strategies.md 3.7). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"

enum outcome_class {
	CLASS_OK,
	CLASS_CLIENT,  /* the client left: says nothing of the target */
	CLASS_BUSY,    /* 429 or 503 of the engine, queue timeout */
	CLASS_FAILURE, /* connect error, cut stream, timeout, other 5xx */
	CLASS_LOCAL,   /* HAProxy or we answered: says nothing of the target */
};

struct health;

/* NULL when out of memory. */
MUST_CHECK struct health *health_new(uint32_t targets);
void health_free(struct health *health);

/* connect: the failure was a refused or failed connection.
 * retry_after: seconds the engine asked for; 0 = none said (held back for 1 s;
 * capped at 10 s). */
void health_note(struct health *health, uint32_t target, enum outcome_class class, bool connect,
                 uint32_t retry_after, usec_t now);

bool health_suspect(const struct health *health, uint32_t target, usec_t now);
bool health_backing_off(const struct health *health, uint32_t target, usec_t now);
/* 0..1: F / (N + 2), decayed over 30 s (strategies.md 1.5 `failures`). */
double health_failures(const struct health *health, uint32_t target, usec_t now);
/* Whether it is worth asking: false when it is so of no target. */
bool health_any_suspect(const struct health *health, usec_t now);
bool health_any_backing_off(const struct health *health, usec_t now);
bool health_any_failures(const struct health *health, usec_t now);
void health_forget(struct health *health, uint32_t target);
