/* inflight.h - every open request by HAProxy's unique-id, and those that ended
 * lately.
 *
 * An end may overtake the first byte, or even the decision. So an id that ended
 * leaves a tombstone for a while: a second end is a duplicate, and a decision
 * that comes after its end takes no slot. The table is bounded; when it is full
 * a request is decided without a slot, and counted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policies/core/ladder.h"
#include "policies/core/span.h"
#include "policies/core/target.h"
#include "policies/state/ledger.h"
#include "policies/state/limits.h"
#include "policies/state/pins.h"
#include "policies/state/ttft_fit.h"

struct inflight;

struct flight_id {
	uint64_t high, low; /* 128-bit hash of the unique-id */
};

struct flight_id flight_id_of(struct span unique_id);

enum flight_phase {
	FLIGHT_DECIDED,   /* slot taken, provisional */
	FLIGHT_CONFIRMED, /* first byte seen */
};

/* One open request. Plain data; the keeper may change all but id. */
struct flight {
	struct flight_id id;
	enum flight_phase phase;
	usec_t decided_at;
	usec_t first_byte_at; /* 0 = not yet */
	uint32_t instance;    /* target ids; TARGET_NONE when not chosen */
	uint32_t chosen;      /* replica as decided */
	uint32_t prefill;     /* who computes the prompt for it; TARGET_NONE: nobody else */
	bool pair;            /* there was one, whether it is still there or not */
	bool adopted;     /* decided by HAProxy without us: no answer, a late one, our restart */
	float to_compute; /* tokens before its first byte: those waiting when it came, and its own
	                   */
	double ttft_ms;   /* the sample given at the first byte; 0 = none */
	struct ttft_sample fitted;
	bool hit;                  /* the chosen one held a part that counts */
	bool stored;               /* the instance's store of KV blocks is about to hold it, too */
	uint8_t missed;            /* counts in a row of HAProxy's that cannot have had it */
	struct slot instance_slot; /* target TARGET_NONE: none held */
	struct slot replica_slot;
	struct slot prefill_slot; /* until the first byte */
	uint64_t prompt, tenant;  /* hashes, for failures that repeat; prompt 0: not known */
	double input, output;     /* tokens that its caller was charged with */
	struct limit_receipt receipt;
	bool on_trial;            /* and it holds a place of those that may be */
	uint32_t trial, trial_at; /* of health_trial_begin(), and its target; 0 = none */
	uint32_t prefill_trial;   /* the same of prefill, until the first byte */
	uint32_t source;          /* HAProxy process */
	bool has_session;         /* the next five are set */
	struct pin_key session;
	uint32_t pinned;                   /* where that is, as far as this request knows */
	uint8_t session_move;              /* why it moves, if it does: enum session_move */
	pin_serial held;                   /* its pin; 0 = none */
	bool pins_instance;                /* that, not a replica */
	bool gives_id;                     /* the client is told who served */
	uint32_t model;                    /* fleet's id of what was asked for; 0 = none named */
	uint64_t adapter;                  /* lora_id() of it; 0: it is for none */
	uint32_t adapter_at;               /* instance where it is counted; TARGET_NONE: nowhere */
	uint32_t blocks;                   /* of chain */
	uint64_t chain[LADDER_BLOCKS_MAX]; /* for confirming and evicting bindings */
};

enum inflight_status {
	INFLIGHT_OK,
	INFLIGHT_FULL,  /* no room: decide without a slot */
	INFLIGHT_ENDED, /* its end came first */
	INFLIGHT_OPEN,  /* the same id is open already */
};

/* open: most open requests; tombstones: ring of ended ids. NULL when out of memory. */
MUST_CHECK struct inflight *inflight_new(uint32_t open, uint32_t tombstones, usec_t tombstone_ttl);
void inflight_free(struct inflight *inflight);

/* INFLIGHT_OK: *ret_flight is a zeroed record with id and decided_at set and its
 * targets and slots TARGET_NONE; good until it ends. */
enum inflight_status inflight_open(struct inflight *inflight, struct flight_id id, usec_t now,
                                   struct flight **ret_flight);
/* NULL when it is not open. */
struct flight *inflight_find(struct inflight *inflight, struct flight_id id);

enum inflight_end {
	INFLIGHT_END_OPEN,      /* was open: *ret_flight is a copy, the record is gone */
	INFLIGHT_END_UNKNOWN,   /* never seen: a tombstone now keeps a later decision from a slot */
	INFLIGHT_END_DUPLICATE, /* had ended before */
};
enum inflight_end inflight_end(struct inflight *inflight, struct flight_id id, usec_t now,
                               struct flight *ret_flight);

/* It ended within the tombstones' time to live: a first byte of it comes too late. */
bool inflight_ended(const struct inflight *inflight, struct flight_id id, usec_t now);

uint32_t inflight_count(const struct inflight *inflight);
uint32_t inflight_capacity(const struct inflight *inflight);

/* Visit open requests opened before the given time, oldest first, at most `most`
 * of them; the callback may end the visited one and no other. For expiry and a
 * lost process. */
void inflight_older(struct inflight *inflight, usec_t before, uint32_t most,
                    void (*visit)(void *data, const struct flight *flight), void *data);
