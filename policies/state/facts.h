/* facts.h - all that is known when a decision is made, in one place to pass on.
 *
 * Each part has its own file and its own writer; nobody below the agent owns
 * more than its part. Made once at start, kept over reloads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/policy.h"
#include "policies/core/share.h"
#include "policies/state/adapters.h"
#include "policies/state/answers.h"
#include "policies/state/average.h"
#include "policies/state/counters.h"
#include "policies/state/engine.h"
#include "policies/state/fleet.h"
#include "policies/state/health.h"
#include "policies/state/inflight.h"
#include "policies/state/ledger.h"
#include "policies/state/limits.h"
#include "policies/state/peers.h"
#include "policies/state/pins.h"
#include "policies/state/prefix_index.h"
#include "policies/state/rates.h"
#include "policies/state/recent.h"
#include "policies/state/tenants.h"
#include "policies/state/ttft_fit.h"

struct facts {
	const struct policy *policy; /* swapped on reload; not owned */
	struct fleet *fleet;
	struct ledger *ledger;
	struct peers *peers; /* what other agents have there; its sums are in the ledger */
	struct inflight *inflight;
	struct averages *averages;
	struct health *health;
	struct engines *engines;
	struct adapters *adapters; /* of LoRA */
	struct rates *rates;
	struct answers *answers;
	struct ttft_fits *ttft_fits;
	struct recent *recent;
	struct prefix_index *prefix;
	struct tenants *tenants;
	struct limit_table *limits;
	struct counters *counters;
	struct pins *sessions; /* session keys, to the replica that has their context */
	struct pins *tries;    /* prompts that did not come to a good end, to who had them */
	bool store_up;
	const struct share *share; /* hears what we learn; NULL: nobody does. Not owned */
};

/* Sized by the policy's restart-needed settings and the fleet's limits. NULL when
 * out of memory. */
MUST_CHECK struct facts *facts_new(const struct policy *policy, const struct fleet_limits *limits);
void facts_free(struct facts *facts);
/* A new policy: rebinds the fleet and tunes the index. The old one may be freed after. */
void facts_set_policy(struct facts *facts, const struct policy *policy);
/* The store that agents share is reached, or it is not (as at the beginning). */
void facts_set_store(struct facts *facts, bool up);
/* Everything kept under this target id starts anew. Fits fleet_apply's on_gone:
 * data is the facts. */
void facts_forget(void *data, uint32_t target);
/* The engine at this target restarted: its cache is empty, its page is void,, how
 * fast it is has to be learnt, and it is as new as if first seen now. */
void facts_engine_restarted(struct facts *facts, uint32_t target, usec_t now);
