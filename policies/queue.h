/* queue.h - what HAProxy's queue is told of a request: its class, and its offset.
 *
 * There is no queue of ours. Where servers have a maxconn, what is more waits in HAProxy,
 * for a server or for any of a backend, and goes by class first (-2047..2047, lower
 * first), within a class by the time of its arrival plus the offset. Both are set when
 * the request is decided and do not change while it waits.
 *
 * So classes alone let nobody of a worse class through while a better one keeps coming.
 * Unless the policy says otherwise (priority-step 0), classes are therefore offsets, too:
 * a step of priority is worth so much waiting, and who has waited that long goes first.
 *
 * A strategy may add an offset of its own: by deadline, or by what the caller has used. */
#pragma once

#include "policies/core/option.h"
#include "policies/core/policy.h"
#include "policies/core/route.h"

extern const struct option queue_options[]; /* of struct queue_policy */

enum {
	QUEUE_OFFSET_MAX_MS = 300000, /* with timeout queue below HAProxy's 524 s of memory */
};

/* Of a request as the policy sees it. */
struct queue_place {
	const struct class_policy *class_of; /* never NULL: "default" at least */
	double priority;                     /* the class's, or the client's own number */
	bool unknown;                        /* the client's word was believed, and means nothing */
};

/* What policies say of the class: of the caller, of the model (by its rule). NULL: nothing. */
struct queue_classes {
	const struct class_policy *tenant, *model;
};

/* The client's word, if it is believed, else the caller's class, else the model's, else
 * "default". */
struct queue_place queue_place(const struct policy *policy, const struct request *request,
                               const struct queue_classes *classes);

/* The client's, if they are believed, then the class's, then the policy's: each of the
 * three by itself. */
struct objectives queue_objectives(const struct policy *policy, const struct request *request,
                                   const struct class_policy *class_of);

/* Class and offset of the decision. added_ms: of the strategy, later if above 0. */
void queue_set(const struct queue_policy *queue, const struct queue_place *place, double added_ms,
               struct decision *ret_decision);
