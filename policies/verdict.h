/* verdict.h - what the walks came to, as a decision; for pipeline.c. */
#pragma once

#include "policies/passage.h"

/* What level 2 chose. */
void verdict_replica(const struct passage *passage, struct decision *ret_decision);
/* HAProxy balances inside the instance. */
void verdict_instance(const struct instance *instance, enum reason reason,
                      struct decision *ret_decision);
/* Nothing is named: HAProxy's default applies. */
void verdict_nobody(enum reason reason, struct decision *ret_decision);
/* 429 (or 503): every candidate is over its limits, and passage->wait_s says how long. */
void verdict_overload(const struct passage *passage, struct decision *ret_decision);
/* 400: a header asks for a strategy that there is not. */
void verdict_unknown_strategy(struct decision *ret_decision);
/* 429: the caller is over its own limits. */
void verdict_limit(const struct passage *passage, struct decision *ret_decision);
/* 503: a strict rule of affinity stands, and nobody whom it allows can serve. */
void verdict_isolated(struct decision *ret_decision);
/* Nobody was a candidate at all. */
void verdict_unanswered(const struct passage *passage, struct decision *ret_decision);
/* The model's name at the engines, where the policy gives another than the client's. */
void verdict_upstream(const struct passage *passage, struct decision *ret_decision);

/* The replica's reason; where that is only load, what the instance adds to it. */
enum reason verdict_reason(const struct passage *passage, const struct decision *decision);
/* Whom a level that ended with WALK_CHOSEN chose. */
const struct candidate *verdict_chosen(const struct level_trace *trace);
/* The candidate that was chosen for good, of the level that named it; NULL if none. */
const struct candidate *verdict_named(const struct passage *passage,
                                      const struct decision *decision);
/* Whether the client is given an id of its session. */
void verdict_session(const struct passage *passage, struct decision *ret_decision);
