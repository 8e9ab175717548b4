/* usage.h - what a request costs its caller and its model: asked for, charged when it is
 * decided, and settled once when it is over, whatever way that comes.
 *
 * Charged are the tokens that are expected, of prompt and answer. At the end it is known
 * what came of it: nothing, so that all is given back; or an answer of so many bytes, which
 * are tokens as soon as it is learnt how many bytes a token of the instance has. Where an
 * end never comes, or tells too little, what was charged stands. Not a bill. */
#pragma once

#include "policies/learn.h"
#include "policies/reserve.h"

/* Who limits the request, by the policy's tenants and models: nobody, where it names none.
 * tenant: tenant_key() of the request's; model: as the policy calls it. */
void usage_check(const struct facts *facts, const struct request *request,
                 const struct prompt *prompt, uint64_t tenant, struct span model,
                 struct limit_check *ret_check);

/* What our policy says to a limit that another agent told of. False: nothing. The subject's texts
 * are those of the use. */
bool usage_limits(const struct facts *facts, const struct limit_use *use,
                  struct limit_subject *ret_subject);

/* The request is routed. flight: NULL, if it takes no slot: its end will not be heard. */
void usage_charge(struct facts *facts, const struct reservation *reservation,
                  struct flight *flight);

/* Its end line came. by: who served it. */
void usage_end(struct facts *facts, const struct stream_end *end, struct flight *flight,
               const struct serving *by, usec_t now);
/* It is over, but nothing tells how it went. */
void usage_close(struct facts *facts, struct flight *flight);
