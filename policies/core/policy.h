/* policy.h - what the operator configured: plain settings, and who they are about.
 *
 * Filled by spoa/config from JSON, or by policy_default(); read-only ever after;
 * replaced whole on reload. Memory belongs to whoever made it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/ladder.h"
#include "policies/core/objectives.h"
#include "policies/core/rate.h"
#include "policies/core/strategy.h"
#include "policies/core/target.h"
#include "policies/core/time.h"

enum {
	CHAIN_MAX = 8,
	RULE_INSTANCES_MAX = 256,
	AFFINITY_VALUES_MAX = 256,
	SESSION_HEADERS_MAX = 16,
	SLO_REJECT_NEVER = -1000,
	CLASS_PRIORITY_MAX = 2047, /* HAProxy's: -2047..2047 */
};

/* Zero is no limit. */
struct limits {
	double running;
	double pending;
	double ttft_ms;
	double e2e_ms;
	double kv_usage;
};

/* What a caller may use, or a model: of requests and of tokens (prompt and answer) in a
 * time, and at once. Zero is no limit. */
struct quota {
	struct rate requests, tokens;
	double requests_burst, tokens_burst; /* at once; 0: made of the rate */
	uint32_t max_inflight;               /* requests, to the end of their streams */
};

/* Of one model, or of each that the pattern fits. */
struct model_quota {
	char model[NAME_MAX_BYTES]; /* "x*" prefix, "*" any; exact otherwise */
	struct quota quota;
};

/* A caller, by what HAProxy sends as tenant; without one it is "anonymous". The exact
 * name counts before the longest prefix. Whom a pattern fits has limits of its own:
 * they share the numbers, not the use of them. */
struct tenant_policy {
	char name[NAME_MAX_BYTES];           /* "x*" prefix, "*" any; exact otherwise */
	double weight;                       /* > 0: part of the fleet, where strategies are fair */
	const struct class_policy *class_of; /* of its requests; NULL: nothing said */
	struct quota quota;                  /* over all models */
	struct model_quota *models;
	uint32_t model_count;
};

struct pair_phase; /* policies/phases.h */

/* How one of a pair is chosen: by a phase of our own, or else by a strategy's score. */
struct phase_policy {
	const struct pair_phase *phase;  /* NULL: by strategy */
	const struct strategy *strategy; /* NULL: by phase */
};

/* Of an entry whose strategy makes pairs. */
struct pair_policy {
	struct phase_policy prefill, decode;
	double remote_min_bytes; /* less than this uncached is computed by the decode replica */
	double spread;           /* requests: a wider one among a role, and only they count */
	double combined_below;   /* 0..: share of its slots below which a combined one steps in */
	double combined_above;   /* ... when a part of the pair is above this share of its own */
	bool alone;              /* with nobody to prefill the decode replica does all of it */
};

/* One entry of a chain: strategy, admission, share, preference, threshold. */
struct entry_policy {
	const struct strategy *strategy;
	_Alignas(8) unsigned char picker_settings[PICKER_SETTINGS_MAX];
	struct limits admit;
	struct limits hard;          /* 0: admit x relax_on_hit */
	double relax_on_hit;         /* 1..10 */
	double prefer_serving_below; /* requests; 0 = off */
	double max_share;            /* 0..1; 1 = off */
	double share_min;            /* requests from which max_share counts */
	double min_score;            /* hit threshold on the score before the service weight */
	double uncached_weight;      /* of signal work */
	double inflight_tokens;      /* of signal work */
	struct pair_policy pair;
	double gate_gap, gate_factor;
	double slo_reject_below; /* headroom; SLO_REJECT_NEVER: off */
	double sigma;
	double balance_pending, balance_kv, balance_critical; /* of signal load-balance */
	bool seed_idle;
	enum session_mode session_mode;
};

/* Never SESSION_AUTO. */
static inline enum session_mode entry_session_mode(const struct entry_policy *entry)
{
	enum session_mode mode = entry->session_mode;

	if (mode == SESSION_AUTO)
		mode = entry->strategy->session;
	return mode == SESSION_AUTO ? SESSION_OFF : mode;
}

struct prefix_policy {
	double min_match;       /* bytes */
	double min_match_share; /* 0..1 of the prompt */
	double hold_share;      /* sole: share of the best E that a holder needs */
	bool discount_shared;
	usec_t ttl;
	usec_t provisional_ttl;
	double holder_bytes;  /* budget of a replica whose KV size is not known */
	uint32_t max_records; /* restart needed */
};

enum session_format {
	SESSION_ADDRESS, /* base64 of "ip:port" */
	SESSION_OPAQUE,  /* hex digits that only the secret's owner can tell an address from */
};

/* A request header that may carry a session key. */
struct session_header {
	char name[NAME_MAX_BYTES];
	uint32_t argument; /* i of the contract's s<i>; SESSION_HEADER_OTHER: sent as hdr.NAME */
};
#define SESSION_HEADER_OTHER UINT32_MAX

struct session_policy {
	usec_t ttl;        /* of a pin since its last use */
	uint32_t max_pins; /* restart needed */
	enum session_format format;
	char secret_file[NAME_MAX_BYTES]; /* "" = none */
	uint64_t seed; /* SESSION_OPAQUE: of the secret, the same for all agents */
	struct session_header headers[SESSION_HEADERS_MAX]; /* the first that is there counts */
	uint32_t header_count;
};

/* Which outcomes count towards an ejection, where the operator says it; given false:
 * the classes of policies/outcome.h as they are. */
struct eject_on {
	bool given;
	bool connect, lost, timeout; /* no connection; cut; first token or server timeout */
	bool busy;                   /* 429, 503: of one who finishes nothing */
	bool denied;                 /* 401, 403: of two tenants */
	uint64_t statuses[4];        /* bit n of all: status 400 + n counts whatever it means */
};

enum { PROBE_HEADERS_MAX = 16 };

/* A header that probes send. */
struct probe_header {
	char name[NAME_MAX_BYTES], value[NAME_MAX_BYTES];
};

/* When a probe asks for one token: a page that says 200 does not prove that anything
 * is computed. */
enum token_probe { TOKEN_NEVER, TOKEN_STALLED, TOKEN_ALWAYS };

/* When a replica is taken out of service, and how it comes back. */
struct health_policy {
	struct eject_on eject_on;
	uint32_t eject_after; /* failures in a row; 0: never */
	double eject_share;   /* of failures among at least eject_outcomes; 0: never */
	double eject_outcomes;
	usec_t ejection, ejection_max; /* the first, and the longest */
	double max_ejected;            /* 0..1 of a pool */
	usec_t stall_after;            /* 0: never */
	bool probe;
	char probe_path[NAME_MAX_BYTES]; /* "" = by what the engine is */
	usec_t probe_interval, probe_timeout;
	int probe_token; /* enum token_probe */
	usec_t probe_token_timeout;
	struct probe_header *probe_headers;
	uint32_t probe_header_count;
	uint32_t probe_successes;  /* in a row */
	uint32_t probe_concurrent; /* requests on trial at once */
	uint32_t trial_successes;  /* in a row */
	usec_t ramp;               /* of who is new; 0: none */
	usec_t ramp_restored;      /* of who comes back */
	double ramp_requests;
};

/* A class of requests: where they stand in HAProxy's queue, and within what they are
 * to be served. */
struct class_policy {
	char name[NAME_MAX_BYTES];
	double priority; /* -2047..2047, whole; lower goes first */
	struct objectives objectives;
};

/* What HAProxy is told for its queue, and who may say so. */
struct queue_policy {
	usec_t priority_step;   /* what a step of priority is worth in waiting; 0: classes are
	                         * strict, and whoever is behind may wait for ever */
	bool client_priority;   /* a client's own is believed */
	bool client_objectives; /* ... */
	double default_ttft_ms; /* orders requests that have no objective among those that do */
	struct objectives objectives; /* of all requests whose class says none */
};

enum affinity_on { AFFINITY_TENANT, AFFINITY_SESSION, AFFINITY_HEADER };

enum affinity_match {
	AFFINITY_ANY,     /* whatever value, as long as there is one; of a split: none will do */
	AFFINITY_ONE_OF,  /* one of the values, and no longer */
	AFFINITY_PREFIX,  /* begins with one of the values */
	AFFINITY_NONE_OF, /* another value, or none at all */
};

/* Binds requests of a feature to instances, or keeps them away from some. Counts
 * 0: nothing said. */
struct affinity {
	enum affinity_on on;
	char header[NAME_MAX_BYTES]; /* AFFINITY_HEADER: which; capitals do not matter */
	enum affinity_match match;
	char (*values)[NAME_MAX_BYTES];
	uint32_t value_count;
	char (*only)[NAME_MAX_BYTES]; /* no other instance may serve */
	uint32_t only_count;
	char (*never)[NAME_MAX_BYTES]; /* these may not */
	uint32_t never_count;
	/* Requests of one value go to one of these, by hash, in these proportions. */
	char (*split)[NAME_MAX_BYTES];
	double *shares; /* >= 0; 0: nothing goes there */
	uint32_t split_count;
	bool strict; /* holds for fallback services too; nobody left is a refusal */
};

/* Where the KV cache of an instance's engines lies. */
enum kv_pool {
	KV_REPLICA, /* in each engine: who did not compute a prefix does not have it */
	KV_SHARED,  /* in a store that all of them read, and that survives them */
};

enum levels_mode { LEVELS_BOTH, LEVELS_INSTANCE, LEVELS_REPLICA };

/* What the policy says of a server of an instance, or of all whose name or address
 * the pattern fits. */
struct replica_policy {
	char name[NAME_MAX_BYTES]; /* "*", at most once, stands for any letters */
	double weight;             /* beside HAProxy's own */
	enum role role;
	char roleset[NAME_MAX_BYTES]; /* pairs stay within one; "" = the common one */
	double min_prompt;            /* tokens */
	double max_prompt;            /* tokens; 0 = no limit */
	double slots;                 /* requests it computes at a time; 0: HAProxy's maxconn */
	uint32_t ranks;               /* data-parallel ranks, each a replica; 0: none to choose */
};

/* Level 2 of one instance, and what the policy says of the instance itself. */
struct instance_policy {
	char name[NAME_MAX_BYTES];
	char (*models)[NAME_MAX_BYTES]; /* as clients name them; count 0: ask the engines */
	uint32_t model_count;
	char upstream_model[NAME_MAX_BYTES]; /* as its engines call the model; "" = as clients do */
	double weight;                       /* service weight; 0 = drained */
	int kv_pool;                         /* enum kv_pool */
	struct entry_policy chain[CHAIN_MAX];
	uint32_t chain_count;            /* >= 1 */
	struct replica_policy *replicas; /* of several that fit the first counts */
	uint32_t replica_count;
};

/* Level 1 of some requests: which instances, and how to choose among them. */
struct rule {
	char host[NAME_MAX_BYTES];  /* "" any; "*.x" what ends so; exact otherwise; small letters */
	char path[NAME_MAX_BYTES];  /* "" any; "/a/b" itself and all below; no "/" at its end */
	char model[NAME_MAX_BYTES]; /* "" any; "x*" prefix; exact otherwise */
	char upstream_model[NAME_MAX_BYTES]; /* where the instance says none; "" = unchanged */
	const struct class_policy *class_of; /* of its requests; NULL: nothing said */
	char (*instances)[NAME_MAX_BYTES];   /* count 0: all that serve the model */
	uint32_t instance_count;
	char (*fallbacks)[NAME_MAX_BYTES];
	uint32_t fallback_count;
	struct affinity *affinities; /* beside the policy's */
	uint32_t affinity_count;
	struct entry_policy chain[CHAIN_MAX];
	uint32_t chain_count; /* >= 1 */
};

/* What is added to strategies unseen; see policies/blend.h. */
struct blend_policy {
	double load_balance; /* 0: nothing is added at all */
	double least_request;
	double prefix_cache, prefix_cache_load; /* of prefix-cache named alone */
};

/* What the policy says of a model whatever rule a request matches. */
struct profile {
	char model[NAME_MAX_BYTES]; /* "" any; "x*" prefix; exact otherwise */
	struct profile_step {
		double from;                     /* tokens of the prompt */
		const struct strategy *strategy; /* NULL: none of its own */
	} * steps;                               /* ascending by from; the first is from 0 */
	uint32_t step_count;
};

struct alias {
	char name[NAME_MAX_BYTES];
	char model[NAME_MAX_BYTES];
};

/* A LoRA adapter that any engine of the model can load when it is asked for. */
struct adapter_policy {
	char name[NAME_MAX_BYTES];
	char model[NAME_MAX_BYTES]; /* its base */
};

/* Over how many replicas an adapter is spread (policies/stages/adapter.c). */
struct lora_policy {
	bool spread;           /* over any: no bound */
	double requests;       /* in flight that a replica may have before there is another */
	uint32_t max_replicas; /* of one adapter at a time; 0: as many as it needs */
	usec_t remember;       /* how long one that was sent somewhere is believed there */
	usec_t cooling;        /* half of its heat is gone after this */
};

/* The store by which agents share what they know; its url "": there is none. */
struct sharing_policy {
	char url[NAME_MAX_BYTES]; /* without a password; restart needed, as all texts here */
	char password_file[NAME_MAX_BYTES], sentinel_password_file[NAME_MAX_BYTES];
	char space[NAME_MAX_BYTES];
	char ca_file[NAME_MAX_BYTES], cert_file[NAME_MAX_BYTES], key_file[NAME_MAX_BYTES];
	double memory; /* bytes of the store's for what is kept, about */
	bool loads;    /* what other agents have in flight counts */
};

struct policy {
	enum levels_mode levels;
	struct ladder ladder;
	double bytes_per_token;
	double default_output_tokens;
	struct prefix_policy prefix;
	struct health_policy health;
	struct queue_policy queue;
	struct session_policy session;
	struct sharing_policy sharing;
	bool reject_on_overload;
	uint32_t overload_status;  /* 429 or 503 */
	bool limits_need_redis;    /* refused while the store is away, not limited by each agent */
	bool reject_unknown_model; /* 404; default: HAProxy's default backend */
	bool lock_strategy;
	bool reject_unknown_strategy; /* 400; default: as if the header had not been there */
	struct blend_policy blend;
	struct profile *profiles;
	uint32_t profile_count;
	usec_t stale_after;
	usec_t ledger_ttl, ledger_width; /* restart needed */
	uint32_t max_inflight;           /* open requests remembered; restart needed */
	usec_t average_tau_ttft, average_tau_e2e;
	char engine_credential_file[NAME_MAX_BYTES]; /* "" = none */
	char default_model[NAME_MAX_BYTES];          /* for requests that name none; "" = none */
	struct rule default_rule;                    /* for models that no rule names */
	struct instance_policy default_instance; /* for instances that the policy does not name */
	struct rule *rules;
	uint32_t rule_count;
	struct affinity *affinities; /* of all requests */
	uint32_t affinity_count;
	struct instance_policy *instances;
	uint32_t instance_count;
	struct class_policy *classes; /* beside the built-in ones (policies/classes.h) */
	uint32_t class_count;
	const struct class_policy *default_class; /* never NULL */
	struct alias *aliases;
	uint32_t alias_count;
	struct adapter_policy *adapters;
	uint32_t adapter_count;
	struct lora_policy lora;
	struct tenant_policy *tenants;
	uint32_t tenant_count;
	struct model_quota *quotas; /* of models, over all tenants */
	uint32_t quota_count;
	const struct strategy **strategies; /* the operator's own recipes */
	uint32_t strategy_count;
};

/* What is said of the instance of that name. NULL: nothing; policy may be NULL. */
const struct instance_policy *policy_instance(const struct policy *policy, const char *name);
/* The first word of the instance about a server that has these names: its address, and what the
 * HAProxys call it ("" fits nothing). NULL: there is none; policy may be NULL. */
const struct replica_policy *policy_replica(const struct instance_policy *policy,
                                            const char *const *names, size_t count);
