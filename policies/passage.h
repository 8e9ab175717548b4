/* passage.h - one request on its way through both levels; for pipeline.c and verdict.c. */
#pragma once

#include "policies/choice.h"
#include "policies/decider.h"
#include "policies/queue.h"

enum { INSTANCE_RETRIES = 2 };

struct passage {
	struct decider *decider;
	const struct request *request;
	usec_t now;
	bool dry; /* leave no trace: for explain */
	struct rng rng;
	uint32_t model;
	uint64_t adapter; /* lora_id() of its name, if the model is a LoRA adapter; else 0 */
	struct span base; /* ... of this model */
	uint64_t tenant;  /* tenant_key() of the request's */
	struct limit_check check; /* what limits it */
	const struct rule *rule;
	uint32_t previous; /* target that served the client's last try; TARGET_NONE: not known */
	struct choice choice;
	struct queue_place place; /* among those that wait */
	struct walk walks[2];
	uint32_t banned[INSTANCE_RETRIES + 1]; /* instances whose replicas yielded nobody */
	size_t banned_count;
	bool overload; /* of all that were asked, certainly */
	bool deadline; /* ... they would all be too late for the client's patience */
	double wait_s; /* until one of them may be below its limits; 0 = not known */
	struct latch {
		bool *at; /* NULL: no walk of this level */
		bool fired;
	} latches[2]; /* of the imbalance gate, as the last walks of each level left it */
};

static inline const struct policy *passage_policy(const struct passage *passage)
{
	return passage->decider->facts->policy;
}

/* Model, rule, prompt and what the index holds of it are found. */
void passage_enter(struct passage *passage, struct decider *decider, const struct request *request,
                   usec_t now, bool dry);

/* Level 1 over the rule's instances but the banned ones; level 2 inside one. The walk
 * stays in passage->walks. */
enum walk_end passage_walk_instances(struct passage *passage, struct level_trace *ret_trace);
enum walk_end passage_walk_replicas(struct passage *passage, const struct instance *instance,
                                    struct level_trace *ret_trace);

/* The gate remembers from here on. Once a decision, so that a second walk of one begins like
 * the first, and what explain says is what is decided. */
void passage_latch(const struct passage *passage);

/* The caller is over its limits; asked now, unless a walk has. */
bool passage_limited(struct passage *passage);

/* One more that could not take it: what is left of the proof of an overload. */
void passage_note_failure(struct passage *passage, const struct walk *walk, enum walk_end end);
