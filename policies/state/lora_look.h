/* lora_look.h - how well a target is placed to serve a LoRA adapter, by llm-d's scale. */
#pragma once

#include "policies/state/facts.h"

/* 1: the adapter is there. 0.8: it can be loaded, there is a slot. 0.6: no slot is free, but it
 * waits for one already. 0: others have all of them.
 *
 * There it is if a request for it is with the engine, by the engine's page, or if we sent one
 * lately and no more others since than there are slots. Slots that waiting adapters will have
 * are not free. Of an engine that tells no number of slots one is believed to be free. */
double lora_scale(const struct facts *facts, uint32_t target, uint64_t lora, usec_t now);
/* The first of these. */
bool lora_is_there(const struct facts *facts, uint32_t target, uint64_t lora, usec_t now);

/* What it would mean to send it there. */
enum lora_room {
	LORA_CROWDED, /* another that is in use would have to go */
	LORA_ROOM,
	LORA_THERE,
};
/* In use is what the engine calls so, and what we sent there within the policy's lora.cooling,
 * where it tells how many slots it has. */
enum lora_room lora_room(const struct facts *facts, uint32_t target, uint64_t lora, usec_t now);
