/* act.h - what an operator may do to a running agent: hold a target, let it go, eject it,
 * flush what is believed of it, read the policy again.
 *
 * ACT(id, name, help). Over a unix socket, by root or by the agent's own user; nobody else.
 * A target is an instance, INSTANCE/SERVER, or ip:port. */
#pragma once

#define ACTS(ACT)                                                                                  \
	ACT(DRAIN, "drain", "No new requests go there; those that run, end.")                      \
	ACT(ENABLE, "enable", "Requests go there again, drained, ejected or not.")                 \
	ACT(EJECT, "eject", "Out of service as after failures; probes bring it back.")             \
	ACT(FLUSH, "flush", "Forgets the prefixes, sessions or averages of a target.")             \
	ACT(RELOAD, "reload", "Reads the policy and the profiles of engines again.")

struct web_request;
struct web_answer;
struct admin_context;

/* verb: what stands behind the path. */
void act_answer(const struct admin_context *context, const struct web_request *request,
                const char *verb, struct web_answer *ret_answer);
