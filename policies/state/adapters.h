/* adapters.h - LoRA adapters: to which targets their requests went lately, and how hot each is.
 *
 * An engine tells at most which adapters have requests with it (vLLM's lora_requests_info), not
 * which lie loaded and idle. So what we sent there is remembered: an engine keeps the adapters
 * that were used last, as many as it has slots, and so does this.
 *
 * The heat of an adapter at an instance is the requests it has in flight there, by this agent's
 * own count, or what is left of their peak: it rises at once and halves every half-life, so that
 * a pause between two requests does not send the adapter elsewhere.
 *
 * Bounded: who is idle makes place for others. An adapter for which there is none is not
 * counted, and as cold as can be. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/time.h"

enum { ADAPTERS_HOT_MAX = 4096 }; /* adapters times instances that are counted at a time */

struct adapters;

/* NULL when out of memory. */
MUST_CHECK struct adapters *adapters_new(uint32_t targets);
void adapters_free(struct adapters *adapters);

/* lora: of lora_id(), never 0. A request for it is sent to the target. */
void adapters_sent(struct adapters *adapters, uint32_t target, uint64_t lora, usec_t now);
/* It may not be there any more. */
void adapters_lost(struct adapters *adapters, uint32_t target, uint64_t lora);
/* It was sent there, not longer ago than max_age, and since then no more than slots - 1 others
 * were; slots 0: not known how many there are. */
bool adapters_resident(const struct adapters *adapters, uint32_t target, uint64_t lora,
                       uint32_t slots, usec_t now, usec_t max_age);
/* How many others were sent there, not longer ago than max_age. */
uint32_t adapters_others(const struct adapters *adapters, uint32_t target, uint64_t lora,
                         usec_t now, usec_t max_age);

/* One more of its requests in flight at the instance; false when there is no place to count it,
 * and then there is nothing to end. instance TARGET_NONE: of all instances. */
bool adapters_begin(struct adapters *adapters, uint64_t lora, uint32_t instance, usec_t now,
                    usec_t half_life);
void adapters_end(struct adapters *adapters, uint64_t lora, uint32_t instance, usec_t now,
                  usec_t half_life);
/* Requests, >= 0. */
double adapters_heat(const struct adapters *adapters, uint64_t lora, uint32_t instance, usec_t now,
                     usec_t half_life);
/* In flight just now. */
uint32_t adapters_open(const struct adapters *adapters, uint64_t lora, uint32_t instance);

/* The target starts anew; if it is an instance, so do its adapters. */
void adapters_forget(struct adapters *adapters, uint32_t target);
