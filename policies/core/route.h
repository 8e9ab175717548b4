/* route.h - the vocabulary of a routing decision.
 *
 * A request walks through the stages of policies/pipeline.c. Each stage leaves
 * fewer candidates standing; the picker takes one; a decision comes out. The
 * same walk is made twice: over instances, then over the replicas of the chosen
 * instance.
 *
 * Nothing in policies/ reads a clock, a socket or a file: what a stage may know
 * is in the walk it is given. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/ladder.h"
#include "policies/core/limit.h"
#include "policies/core/objectives.h"
#include "policies/core/reason.h"
#include "policies/core/rng.h"
#include "policies/core/span.h"
#include "policies/core/target.h"
#include "policies/core/time.h"

struct facts;        /* what is known when the walk is made (policies/state/facts.h) */
struct entry_policy; /* strategy and limits of one chain entry (policies/core/policy.h) */
struct stage;        /* one step of the walk (policies/stages/stage.h) */
struct limit_check;  /* what limits the request (policies/state/limits.h) */

enum { REQUEST_HEADERS_MAX = 8 };

/* A header that somebody configured to be sent, for affinity rules. */
struct header {
	struct span name, value;
};

/* What HAProxy told us. Spans point into the frame that carried the request and
 * live exactly as long as the walk; at is NULL where HAProxy sent nothing. */
struct request {
	struct span id;      /* HAProxy's unique-id, the only key of a request */
	struct span backend; /* HAProxy chose the instance already: choose the replica only */
	struct span method, host, path;
	struct span model;
	struct span tenant;     /* hash in hex, or a name; absent = anonymous */
	struct span session;    /* first present session header, at most 256 bytes */
	bool session_may_be_id; /* it came in the header in which we gave an id */
	struct span exclude;    /* replicas not to use: names or addresses, with commas between */
	struct span strategy;   /* asked for by a header */
	struct span priority;   /* as the client put it: a class's name, or a number */
	struct span client_id;
	struct objectives objectives; /* the client's own */
	uint32_t retry_count;         /* the client's own count of its tries */
	double patience_ms;           /* how long the client waits for a first byte; 0 = not said */
	uint32_t source; /* which HAProxy asked: index into replica.name; 0 if not known */
	bool has_prompt;
	uint64_t prompt_bytes; /* bytes of the prompt HAProxy could see (plen) */
	uint64_t body_bytes;   /* bytes of the body HAProxy could see */
	uint64_t body_total;   /* announced, or seen if more */
	uint32_t hash_count;   /* leading hashes that were sent and belong to our ladder */
	uint32_t header_count; /* of headers; only those that came with a value */
	uint64_t hashes[LADDER_BLOCKS_MAX]; /* of each block alone, as HAProxy made them */
	struct header headers[REQUEST_HEADERS_MAX];
};

/* Derived from the request once, before the walk. */
struct prompt {
	double tokens;                     /* P */
	double output_tokens;              /* O */
	struct objectives objectives;      /* of the client, its class or the policy */
	uint64_t total_bytes;              /* plen_total */
	uint32_t blocks;                   /* usable blocks */
	uint64_t chain[LADDER_BLOCKS_MAX]; /* chained, seeded with ladder and model */
};

/* What feedback, engines and HAProxy say of a target. Negative: not known. */
struct load {
	double pending; /* requests waiting, in the engine and in HAProxy's queue */
	double ttft_ms; /* averages, drifting towards the others' as they age */
	double e2e_ms;
	double kv_usage; /* 0..1 */
	double failures; /* 0..1, always known */
};

/* Two cache lines: every stage reads every candidate. */
struct candidate {
	struct target *target;
	const struct replica *replica; /* NULL when instances are the candidates */
	double running;                /* raw: own + foreign + drift, per engine, >= 0 */
	double running_scored;         /* divided by the relative weight: for comparisons only */
	double prefill_tokens;         /* waiting for their first byte, per engine */
	double tokens;                 /* prefill + a part of the resident, as running_scored */
	double uncached_tokens;        /* U(c) */
	double score;                  /* set by the score stage; higher is better */
	double graded;                 /* the score before the service weight */
	double effective;              /* E(c): matched bytes that the others do not hold as well */
	const struct stage *dropped_by; /* NULL while standing */
	const struct instance *instance;
	const struct load *load; /* NULL while no entry of the chain asks for it */
	/* Of an instance: its replicas that can serve, when a signal reads them. */
	const struct candidate *members;
	uint16_t member_count;
	uint16_t engines; /* of an instance: usable replicas; 1 of a replica */
	uint32_t own;     /* requests in flight that this agent sent */
	uint32_t matched; /* m(c): bytes of the prompt it holds */
	uint8_t blocks;   /* as many whole blocks of it */
	bool hit;         /* effective >= the floor */
	bool continued;   /* others went on from the deepest block it holds */
	bool spilled;     /* a holder that was too busy for its own prefix */
};

/* The share of the prompt that the candidate holds, 0..1. */
static inline double candidate_share(const struct candidate *candidate, const struct prompt *prompt)
{
	return prompt->total_bytes > 0 ? candidate->matched / (double)prompt->total_bytes : 0;
}

/* What became of the strategy that a header asked for. */
enum asked_strategy {
	ASKED_NOTHING,
	ASKED_TAKEN,
	ASKED_LOCKED,  /* the policy does not allow it */
	ASKED_UNKNOWN, /* there is none of that name */
	ASKED_COUNT
};

enum outcome {
	OUTCOME_NONE,       /* still walking */
	OUTCOME_ROUTED,     /* instance is set, and replica unless HAProxy shall choose it */
	OUTCOME_UNANSWERED, /* nothing named: HAProxy's default applies */
	OUTCOME_REJECTED,   /* status and retry_after are set */
};

/* SESSION(id, name, help): how the target of a session was found. */
#define SESSION_RESULTS(SESSION)                                                                   \
	SESSION(NONE, "none", "no session key came, or nobody asks for one")                       \
	SESSION(PINNED, "pinned", "its pin stands")                                                \
	SESSION(NEW, "new", "pinned nowhere: by the key's hash")                                   \
	SESSION(GONE, "gone", "its pin does not stand: by the key's hash")                         \
	SESSION(NAMED, "named", "by the id that it was given")                                     \
	SESSION(UNNAMED, "unnamed", "an id of nobody who stands: drawn")

#define AS_ENUM(id, ...) SESSION_##id,
enum session_result { SESSION_RESULTS(AS_ENUM) SESSION_RESULT_COUNT };
#undef AS_ENUM

/* What a level found out of the request's session. */
struct session_look {
	bool wanted; /* an entry of the chain asks for it */
	enum session_result result;
	uint32_t target; /* of the candidate that has it; TARGET_NONE: nobody, or not looked for */
	uint32_t pinned; /* where its key is pinned; TARGET_NONE: nowhere, or it is an id */
	bool kept;       /* all others fell */
	bool spilled;    /* it was too busy to be kept */
};

/* What a level found out of the LoRA adapter that the request is for. */
struct adapter_look {
	uint64_t id;     /* lora_id() of its name; 0: it is for none */
	double heat;     /* its requests in flight, this one too, or what is left of their peak */
	uint32_t wanted; /* replicas that it should be spread over; 0: not looked for */
	bool narrowed;   /* the others fell */
	bool spilled;    /* all of them were too busy: it got one more, or anybody */
};

enum { WALK_STAGES_MAX = 24 };

/* How one level came to its result, for explain, logs and metrics. */
struct level_trace {
	bool walked;
	const struct candidate *pool; /* standing first, then the dropped; the decider's memory */
	size_t count;                 /* of the pool */
	size_t standing;
	size_t chosen;                   /* index into pool; count if none */
	const struct candidate *prefill; /* in the pool: computes the prompt; NULL if none does */
	int pair;                        /* enum pair_kind; of a strategy that makes pairs */
	uint16_t stood[WALK_STAGES_MAX]; /* how many stood after stage i of the table */
	struct session_look session;
	struct adapter_look adapter;
	const struct strategy *strategy; /* that decided: the entry's, or what that fell to */
	const struct strategy *asked;    /* the entry's */
	bool degraded;                   /* it lacked its data */
};

struct decision {
	enum outcome outcome;
	enum reason reason;
	uint32_t status;                 /* OUTCOME_REJECTED: 429 or 503 or 404 */
	uint32_t retry_after;            /* seconds, 1..120; with reason limit also more */
	enum limit_kind limit;           /* REASON_LIMIT: which one */
	enum limit_of limit_of;          /* ... and whose */
	const struct instance *instance; /* NULL unless routed */
	const struct replica *replica;   /* NULL: HAProxy balances inside the instance */
	const struct replica *prefill;   /* computes the prompt for replica; NULL: nobody else */
	struct span upstream_model;      /* at NULL: unchanged */
	struct span base;                /* whose LoRA adapter was asked for; at NULL: none was */
	const struct class_policy *class_of;  /* of the request; good as long as the policy */
	int32_t priority;                     /* HAProxy's class, -2047..2047, lower first */
	int32_t priority_offset_ms;           /* counts as arrived so much later in its class */
	uint32_t matched;                     /* bytes the chosen target holds */
	uint64_t sequence;                    /* number of this decision, from 1 */
	const struct session_policy *session; /* the client is given an id by it; NULL: none */
	bool slot;                 /* a slot was taken (false: table full, or ended already) */
	enum asked_strategy asked; /* for a strategy, by a header */
	bool by_profile;           /* the model's profile named the strategy */
	struct limit_left left[LIMIT_UNITS]; /* for the client, this request counted */
	struct level_trace levels[2];        /* [0] instances, [1] replicas */
};

/* How a level ended, or goes on. */
enum walk_end {
	WALK_ON,
	WALK_CHOSEN,    /* pool[chosen] */
	WALK_NOBODY,    /* level 2: no replica to name, HAProxy shall choose */
	WALK_FALLBACK,  /* nobody is left */
	WALK_REFUSED,   /* the caller is over its limits */
	WALK_EXHAUSTED, /* no entry of the chain yielded anybody */
	WALK_SPILL,     /* within level.c only: the holders of the prefix are too busy */
};

/* One request on its way through one level. The candidates standing are
 * pool[0..standing); the dropped stay behind them. */
struct walk {
	const struct request *request;
	const struct prompt *prompt;
	const struct entry_policy *entry; /* the one tried now */
	const struct strategy *strategy;  /* the entry's, or what that falls to */
	const struct facts *facts;
	usec_t now;
	struct rng *rng;
	struct candidate *pool;
	size_t count, standing;
	int level; /* 1 instances, 2 replicas */
	bool any_hit;

	/* Where the candidates come from. */
	uint32_t model;                  /* fleet's id */
	const struct rule *rule;         /* level 1 */
	const struct instance *instance; /* level 2 */
	uint64_t tenant;                 /* tenant_key() of the request's */
	struct limit_check *check;       /* NULL: nothing limits the request */
	const struct scratch *scratch;   /* the decider's memory for this walk */
	bool only_one_will_do;           /* nothing of a sole candidate is read but who it is */
	bool exact;         /* leave nothing out for speed: somebody looks at the trace */
	bool wants_load;    /* an entry of the chain reads candidate->load */
	bool averages_only; /* ... and of that nothing that engines' pages say */
	bool wants_members; /* a signal reads an instance through candidate->members */
	bool wants_pairs;   /* an entry of the chain may choose a prefill replica */
	uint32_t previous;  /* target that served the client's last try; TARGET_NONE: not known */

	/* What the stages found out. */
	struct session_look session;
	struct adapter_look adapter;
	bool some_down;      /* HAProxy calls a candidate down */
	bool weights_differ; /* of replicas */
	double weight_mean;  /* by which loads were divided; 0: they were not */
	bool models_known;   /* of a candidate: what it serves */
	bool panic;          /* health was undone */
	bool narrowed;       /* only holders of the prefix, those to seed, or the session's stand */
	bool seeding;        /* only idle targets stand, to compute a shared prompt once more */
	bool spilling;       /* the holders were too busy, the others are asked */
	bool deep;           /* only those stand who hold most of the prompt */
	bool gated;          /* the imbalance gate fired */
	bool latched;        /* it had fired before and has not yet been satisfied */
	bool late;           /* nobody would be in time: no replica is pinned */
	bool degraded;       /* the strategy lacks its first signal, another took its place */
	bool overload;       /* every candidate was dropped by admission, whatever the entry */
	bool hard;           /* ... each over a hard limit by a number to be trusted */
	bool deadline;       /* ... each too late for the client's patience */
	double wait_s;       /* ... until one of them may be below it; 0 = not known */
	const struct stage *ended_by; /* the stage that left nobody */
};
