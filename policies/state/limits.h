/* limits.h - who may still use how much: requests and tokens in a time, and requests at a
 * time, of tenants, of models, and of a tenant's use of a model.
 *
 * Each limit with a rate is one number, the theoretical arrival time of the generic cell
 * rate algorithm (GCRA, ITU-T I.371). Asking changes nothing; what all limits allow is then
 * charged to all of them, in the same loop turn, so that of a hundred requests at once no
 * more pass than there is budget for. Tokens are charged as expected and settled at the
 * end.
 *
 * Bounded: who uses nothing at present makes place for others. When all are in use, a newcomer
 * is not limited, and counted: a limiter that is full may not become an outage. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/limit.h"
#include "policies/core/policy.h"
#include "policies/core/span.h"
#include "policies/core/time.h"

struct limit_table;

enum { LIMIT_KEYS_MAX = 65536 };

/* One whose use is counted, and what it may use. */
struct limit_subject {
	enum limit_of of;
	uint64_t key;              /* of limits_key() */
	const struct quota *quota; /* the policy's */
	struct span tenant, model; /* for people; at NULL: not of it */
};

/* A request before its limits: filled by who knows the policy, answered by limits_ask(). */
struct limit_check {
	struct limit_subject subjects[LIMIT_SUBJECTS];
	uint32_t count; /* 0: nothing limits it */
	double tokens;  /* expected, of prompt and answer */

	bool asked;
	enum limit_kind refused; /* LIMIT_NONE: allowed */
	enum limit_of of;        /* whose limit refused; of several the one to wait for longest */
	double wait_s;           /* until it may be allowed; 0 = not known */
};

/* What was charged, to be settled and released once; plain data. count 0: nothing. */
struct limit_receipt {
	uint64_t keys[LIMIT_SUBJECTS];
	double tokens[LIMIT_SUBJECTS]; /* charged: no more than the burst */
	uint32_t count;
	bool inflight; /* counted among the requests at a time */
};

/* NULL when out of memory. The only allocation. */
MUST_CHECK struct limit_table *limits_new(uint32_t capacity);
void limits_free(struct limit_table *limits);

uint64_t limits_key(enum limit_of of, struct span tenant, struct span model);

/* While away, whoever is limited is refused: LIMIT_STORE, wait_s 1. */
void limits_set_away(struct limit_table *limits, bool away);

/* Changes nothing but the check. Within a microsecond's billionth a limit is met. */
void limits_ask(const struct limit_table *limits, struct limit_check *check, usec_t now);
/* Of a check that was allowed. inflight: it has a slot, so its end will be heard. */
void limits_charge(struct limit_table *limits, const struct limit_check *check, bool inflight,
                   usec_t now, struct limit_receipt *ret_receipt);
/* Its stream is over: it is no longer one of those at a time. */
void limits_release(struct limit_table *limits, struct limit_receipt *receipt);
/* So many tokens it really were. The receipt is void after. */
void limits_settle(struct limit_table *limits, struct limit_receipt *receipt, double tokens);
/* It was not served: requests and tokens are given back. The receipt is void after. */
void limits_refund(struct limit_table *limits, struct limit_receipt *receipt);

/* What we used of a limit since it was told last. */
struct limit_use {
	enum limit_of of;
	uint64_t key;
	const char *tenant, *model; /* "" where it is not of it; cut, if long */
	double used[LIMIT_UNITS];   /* negative: some was given back */
	usec_t over;                /* in this time, until it is told */
	uint32_t inflight;          /* at present */
};
/* Each that has news, from the one that waits longest; what is open is repeated each second. Ends
 * when tell() says it has no room: that one is not told. What was told counts as heard. Until the
 * first call, and 10 s after the last, nothing is kept to be told. */
void limits_tell(struct limit_table *limits, usec_t now,
                 bool (*tell)(void *data, const struct limit_use *use), void *data);
/* An agent says so, that long ago. subject: of our own policy. Any numbers: they are clamped. So
 * each limit holds over all agents but for what is under way: at most what the limit allows in
 * the time between two tellings and on the way, for each other agent, and a burst for each
 * that was not heard of yet. */
void limits_heard(struct limit_table *limits, uint64_t agent, const struct limit_subject *subject,
                  const struct limit_use *use, usec_t age, usec_t now);
/* What others have open, and did not repeat for 3 s, is closed; about once a second. */
void limits_sweep(struct limit_table *limits, usec_t now);
/* The agent has nothing open any more. */
void limits_bye(struct limit_table *limits, uint64_t agent);

/* Of the limits of this kind on the request the one with the smallest part left. */
struct limit_left limits_left(const struct limit_table *limits, const struct limit_check *check,
                              enum limit_kind kind, usec_t now);

struct limit_view {
	enum limit_of of;
	const char *tenant, *model; /* "" where it is not of it; cut, if long */
	bool limited[LIMIT_UNITS];
	double burst[LIMIT_UNITS];   /* units at once */
	double used[LIMIT_UNITS];    /* of them, now; more than the burst, if it was exceeded */
	double reset_s[LIMIT_UNITS]; /* until all is there again; 0: idle */
	uint32_t inflight;           /* of all agents */
	uint32_t max_inflight;       /* 0 = no limit */
};
uint32_t limits_count(const struct limit_table *limits);
uint64_t limits_full(const struct limit_table *limits); /* not limited: there was no place */
/* The i-th of limits_count(), in no order; some may be idle. */
struct limit_view limits_at(const struct limit_table *limits, uint32_t i, usec_t now);
