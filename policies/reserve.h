/* reserve.h - a decision takes effect: from here on every other one sees it. */
#pragma once

#include "policies/core/route.h"
#include "policies/state/facts.h"

struct reservation {
	const struct request *request;
	const struct prompt *prompt;
	uint32_t model;                  /* fleet's id */
	uint64_t adapter;                /* lora_id(), if it is one; else 0 */
	const struct candidate *chosen;  /* replica, or instance; NULL: HAProxy chooses by itself */
	const struct candidate *prefill; /* computes the prompt for it; NULL: nobody else */
	uint64_t tenant;                 /* tenant_key() of the request's */
	const struct limit_check *check; /* what limits it; allowed */
	usec_t now;
};

/* Slots on replica and instance, the open request, the provisional binding and
 * recency. Sets ret_decision->slot. Only for a decision that names an instance. */
void reserve(struct facts *facts, const struct reservation *reservation,
             struct decision *ret_decision);
/* Every decision is counted, whatever came out. */
void reserve_count(struct facts *facts, const struct reservation *reservation,
                   const struct decision *decision);
