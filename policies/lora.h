/* lora.h - requests for LoRA adapters on their way: where an adapter is sent, and how many of
 * its requests are in flight. Costs nothing a request that is for no adapter. */
#pragma once

#include "policies/core/option.h"
#include "policies/reserve.h"

extern const struct option lora_options[]; /* of struct lora_policy */

/* The decision's slots are taken: the adapter is loaded where it goes, if it was not there. */
void lora_reserve(struct facts *facts, const struct reservation *reservation,
                  const struct decision *decision, struct flight *flight);
/* The first byte came from this replica: the adapter is there. */
void lora_follow(struct facts *facts, const struct flight *flight, uint32_t replica, usec_t now);
/* It has ended, or is given up. Once; nothing after. */
void lora_release(struct facts *facts, struct flight *flight, usec_t now);
/* The replica failed to serve it: whether the adapter is there is not known any more. */
void lora_doubt(struct facts *facts, const struct flight *flight, uint32_t replica);
