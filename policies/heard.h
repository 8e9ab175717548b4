/* heard.h - what other agents have learnt, taken for our own as far as that goes.
 *
 * Everything here comes from a store that anybody may have written to: numbers are clamped,
 * and whom we do not know is for the caller to leave out (target ids are of the fleet). What
 * is heard is never told again (policies/core/share.h is not called), and it never makes us
 * forget what we know better: a chain that we confirmed later stays, an ejection is subject
 * to max-ejected, a hint of an average never causes a 429.
 *
 * at: the time of our clock at which it was so, i.e. when it was received less its age in the
 * store; at <= now. What is older than it may live is left out. Entries come in the order of
 * the stream, each once. */
#pragma once

#include "policies/state/facts.h"

struct heard_chain {
	uint32_t holder;
	const uint64_t *chain; /* root first */
	uint32_t blocks;       /* 1..LADDER_BLOCKS_MAX */
	struct span ladder;    /* its id */
};

/* False: of another ladder than ours, too old, or of more blocks than ours has. */
bool heard_bound(struct facts *facts, const struct heard_chain *heard, usec_t at, usec_t now);
bool heard_evicted(struct facts *facts, const struct heard_chain *heard, usec_t at, usec_t now);
/* False: we noticed it ourselves about that time, or later. */
bool heard_forgotten(struct facts *facts, uint32_t target, usec_t at, usec_t now);

/* An entry of the stream of pins, ours (read back) as well as others': pins_heard(). */
bool heard_pinned(struct facts *facts, struct pin_key key, const struct pin_entry *entry, usec_t at,
                  usec_t now);

/* Ejected there for so long from `at` on. False: it is out anyhow, its time is over, or the
 * pool cannot spare it. */
bool heard_ejected(struct facts *facts, uint32_t target, usec_t length, usec_t at, usec_t now);
/* Ends an ejection only that a peer was the cause of. */
bool heard_recovered(struct facts *facts, uint32_t target, usec_t now);

/* What an agent used of a limit since it told last: limits_tell(). Counts if our own policy
 * limits that. agent: its number, for its requests at a time. */
void heard_limit(struct facts *facts, uint64_t agent, const struct limit_use *use, usec_t at,
                 usec_t now);
/* What a tenant was charged with elsewhere since it was told last: tenants_tell(). */
void heard_tenant(struct facts *facts, const struct tenant_use *use, usec_t at, usec_t now);

/* Averages of another agent, in ms; <= 0: not known. Taken where ours is unknown. */
void heard_averages(struct facts *facts, uint32_t target, double ttft_ms, double e2e_ms,
                    usec_t now);
