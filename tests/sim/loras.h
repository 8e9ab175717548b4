/* loras.h - the LoRA adapters of one simulated engine: its slots, and what it costs to load one.
 *
 * As engines do: a request for an adapter waits until that is loaded; it takes the place of the
 * one used longest ago that no request needs; while all are needed, it waits for a place. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/span.h"
#include "tests/sim/bytes.h"

struct sim_options;

enum { LORA_SLOTS_MAX = 32, LORAS_MAX = 256, LORA_NONE = -1 };

struct loras {
	struct lora_slot {
		int adapter;      /* LORA_NONE: free */
		uint32_t open;    /* requests that need it */
		uint64_t used;    /* the higher, the later */
		int64_t ready_us; /* loaded by then */
	} slots[LORA_SLOTS_MAX];
	uint32_t waiting[LORAS_MAX]; /* requests, by adapter */
	uint64_t uses;
	uint64_t loads;
};

void loras_clear(struct loras *loras);
/* Place in options->adapters; LORA_NONE. */
int loras_named(const struct sim_options *options, struct span name);
/* Milliseconds until it is there, or until it is to be asked for again; 0: it is there. */
uint32_t loras_wait_ms(struct loras *loras, const struct sim_options *options, int adapter,
                       int64_t now_us);
/* A request that needs it enters the batch, and leaves it. */
void loras_hold(struct loras *loras, int adapter);
void loras_let_go(struct loras *loras, int adapter);
/* vLLM's and SGLang's lines of a page; labels of the series, without braces. */
void loras_write(const struct loras *loras, const struct sim_options *options, const char *labels,
                 struct bytes *out);
