/* target.h - what can be chosen: instances, and the replicas inside them.
 *
 * A *target* is what bears load and has a history: an instance (a HAProxy
 * backend) or an engine's address. Its id is dense and indexes every table of
 * policies/state (ledger, averages, health, prefix index). A *replica* is a
 * HAProxy server: one engine's address as a member of one instance. Two
 * instances may list the same address; they then share its target, and so its
 * load. A server whose engine runs several data-parallel ranks is as many
 * replicas: each rank batches and caches for itself, and is a target of its own.
 *
 * Owned by the fleet (policies/state/fleet.h); read-only for everybody else.
 * Pointers are good until the next fleet_apply(), so never past a loop turn:
 * what lives longer keeps the ids. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "policies/core/span.h"
#include "policies/core/time.h"

enum {
	NAME_MAX_BYTES = 128,   /* of a backend, server or model, with its NUL */
	ADDRESS_MAX_BYTES = 64, /* "ip:port" or "[ip6]:port", with its NUL */
	SOURCES_MAX = 4,        /* HAProxy processes (runtime sockets) one agent serves */
	INSTANCE_MODELS_MAX = 64,
	RANKS_MAX = 64, /* data-parallel ranks of one engine */
};

#define TARGET_NONE UINT32_MAX /* an enumerator would have to fit an int */

enum target_kind { TARGET_FREE, TARGET_INSTANCE, TARGET_REPLICA };

/* What a replica does of a request. */
enum role {
	ROLE_COMBINED, /* all of it */
	ROLE_PREFILL,  /* computes prompts for a decode replica, which asks it itself */
	ROLE_DECODE,   /* all of it, or only what comes after the prompt */
	ROLE_COUNT
};
extern const char *const role_names[ROLE_COUNT]; /* combined prefill decode */

struct replica_policy; /* policies/core/policy.h */

struct target {
	uint32_t id;
	enum target_kind kind;
	usec_t since;               /* first seen, or re-used for another address */
	bool held;                  /* by an operator: no new requests */
	uint64_t chosen;            /* sequence number of the last decision for it; 0 = never */
	uint16_t rank, ranks;       /* rank 0..ranks - 1 of its engine; ranks 0: it has none */
	char label[NAME_MAX_BYTES]; /* instance: its name; replica: its address, with "#rank" */
};

/* Of a replica, without the rank: where its engine is. */
static inline struct span target_address(const struct target *target)
{
	return (struct span){ target->label, strcspn(target->label, "#") };
}

/* One server of one backend. Small, since every walk reads all of them. */
struct replica {
	struct target *target;
	const char (*name)[NAME_MAX_BYTES]; /* [source]: as each HAProxy calls it; "" = not there */
	double weight; /* HAProxy's weight x the policy's; 0: no new requests */
	const struct replica_policy *policy; /* NULL: the policy does not name it */
	uint32_t max_running;                /* server maxconn; 0 = no limit */
	uint16_t roleset;                    /* within its instance; 0 = the common one */
	uint8_t role;                        /* enum role */
	uint8_t sources;                     /* bit i: HAProxy number i has it */
	bool usable;       /* not in maintenance, not draining, has a real address, weight > 0 */
	bool up;           /* HAProxy does not say DOWN */
	bool models_known; /* the engine answered /v1/models, or the policy names them;
	                    * which ones: fleet_replica_serves() */
};

/* One backend. Replicas lie in one run of the fleet's table. */
struct instance {
	struct target *target;
	char name[NAME_MAX_BYTES];
	struct replica *replicas;
	uint32_t replica_count;
	const struct instance_policy *policy; /* NULL: the policy does not name it */
	double weight;                        /* service weight of the policy, 1 without */
	bool has_roles;                       /* a replica is not combined */
	bool has_ranges;                      /* a replica takes prompts of some lengths only */
	bool some_down;                       /* a usable replica is not up */
	bool weights_differ;                  /* of its usable replicas, to the first of all */
	bool models_known;                    /* of a replica */
};
