/* server_weight.h - what HAProxy is told of one of its servers, when its agent-check asks.
 *
 * The question is a line, "backend/server" or "ip:port"; the answer is one, too:
 *
 *     up 40% maxconn:7     its weight, of what HAProxy's configuration gives it, and how
 *                          many requests at a time
 *     drain                the policy gives the replica a weight of 0, or an operator has
 *                          drained it (not its whole instance: then HAProxy would have
 *                          nobody left for what it sends by itself)
 *     (an empty line)      nobody by that name: HAProxy leaves all as it is
 *
 * Never `down`, and never 0 %: only who said it can take it back, and an agent that has
 * died would keep a good server out for ever. Who is out of service gets 1 %. For the same
 * reason `ready` is said only to who was drained by us: it would end an operator's own
 * maintenance.
 *
 * percent = 100 x v / (greatest v of the instance) x (1 - failures) x ramp, with v the
 * capacity learnt per HAProxy's weight, where it is known of all usable replicas, else the
 * policy's weight. It moves by ten points or more, or when the replica goes out of service
 * or comes back. How many at a time: the policy's slots, else what the engine tells of
 * itself, shared among the HAProxy processes that list it. */
#pragma once

#include "policies/state/facts.h"

enum { SERVER_WEIGHT_ANSWER_MAX = 64 };

enum server_answer {
	SERVER_ANSWERED,
	SERVER_DRAINED,
	SERVER_UNKNOWN, /* no such server; the answer is empty */
};

struct server_weights;

/* What was said last is remembered by target id. NULL when out of memory. */
MUST_CHECK struct server_weights *server_weights_new(uint32_t targets);
void server_weights_free(struct server_weights *weights);

/* line: without its newline. The answer ends with one; *ret_length is at least 1. */
enum server_answer server_weight_answer(struct server_weights *weights, const struct facts *facts,
                                        struct span line, usec_t now,
                                        char ret_answer[SERVER_WEIGHT_ANSWER_MAX],
                                        size_t *ret_length);

/* Percent as said last; 0: never, or drained. */
uint32_t server_weight_said(const struct server_weights *weights, uint32_t target);
