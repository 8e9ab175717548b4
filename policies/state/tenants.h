/* tenants.h - how much each caller had lately, for those strategies that are fair.
 *
 * V of a caller is a sum that decays over 300 s, of 1 for each token of its prompts and 2
 * for each of its answers, divided by its weight. It is charged with what is expected when
 * a request is decided, and corrected when the request ends. Input tokens are cheap,
 * output tokens are steps of the engine: the weights are those of AIBrix's vtc-basic,
 * after the virtual token counter of "Fairness in Serving Large Language Models" (2024).
 *
 * A caller is a key made of its name; the table is bounded, and the one with the smallest V
 * makes place. So V of whom it does not know is 0, and a correction for it is lost. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/policy.h"
#include "policies/core/span.h"
#include "policies/core/time.h"

struct tenants;

enum { TENANTS_MAX = 10000, TENANT_LABEL_BYTES = 64 /* with its NUL; longer names are cut */ };
#define TENANT_ACTIVE (60 * SECOND)

/* Of nobody (length 0) it is 0; of a name it is not. */
uint64_t tenant_key(struct span name);

/* NULL when out of memory. The only allocation. */
MUST_CHECK struct tenants *tenants_new(uint32_t capacity);
void tenants_free(struct tenants *tenants);
/* A new policy: what was found in the old one is forgotten. */
void tenants_set_policy(struct tenants *tenants, const struct policy *policy);

/* What the policy says of a caller, a nameless one being "anonymous"; NULL: nothing. */
const struct tenant_policy *tenants_policy(const struct tenants *tenants, uint64_t key,
                                           struct span name);

/* A request of it was decided. Nothing for key 0. */
void tenants_charge(struct tenants *tenants, uint64_t key, struct span name, double input,
                    double output, usec_t now);
/* What was charged at that time was so much too little; negative: too much. */
void tenants_correct(struct tenants *tenants, uint64_t key, double input, double output,
                     usec_t charged_at, usec_t now);

/* What a caller was charged with since it was told last: tokens by their weights, before they are
 * divided by the caller's. Ends when tell() says it has no room: that one is not told. What was
 * charged before the first call, or more than 10 s after the last, is not told. */
struct tenant_use {
	uint64_t key;
	const char *name; /* cut, if long */
	double tokens;    /* negative: less than was told */
};
void tenants_tell(struct tenants *tenants, usec_t now,
                  bool (*tell)(void *data, const struct tenant_use *use), void *data);
/* Another agent says so, that long ago. Any numbers: they are clamped. */
void tenants_heard(struct tenants *tenants, const struct tenant_use *use, usec_t age, usec_t now);

/* V as of now; 0 for whom it does not know. */
double tenants_tokens(const struct tenants *tenants, uint64_t key, usec_t now);

/* Over the callers that are active, i.e. had a request decided in the last 60 s. As of the
 * last look, which tenants_charge() and tenants_look() take each 100 ms at most. */
struct tenants_range {
	uint32_t active; /* 0: the others are 0 */
	double least, most;
};
struct tenants_range tenants_range(const struct tenants *tenants, usec_t now);
void tenants_look(struct tenants *tenants, usec_t now);

/* How much later its request shall count as arrived, in HAProxy's queue: what it had more
 * than the least of the active ones, as time of the whole fleet; 0..TENANTS_OFFSET_MAX_MS,
 * so that nobody starves. To be asked before the request is charged. capacity: output tokens
 * per second of all replicas; 0: not known, which counts as TENANTS_CAPACITY. */
enum { TENANTS_OFFSET_MAX_MS = 30000, TENANTS_CAPACITY = 1000 };
double tenants_offset_ms(const struct tenants *tenants, uint64_t key, double capacity, usec_t now);

struct tenant_view {
	const char *name;                   /* cut, if long */
	const struct tenant_policy *policy; /* NULL: nothing is said of it */
	double tokens;                      /* V */
	usec_t seen;
	uint64_t requests; /* decided since it is in the table */
};
uint32_t tenants_count(const struct tenants *tenants);
uint64_t tenants_dropped(const struct tenants *tenants); /* to make place */
/* The i-th of tenants_count(), in no order. */
struct tenant_view tenants_at(const struct tenants *tenants, uint32_t i, usec_t now);
