/* prefix_index.h - which target holds which prompt prefix in its KV cache
 *
 * One 28-byte record per block and holder, plus 4 bytes of bucket heads: 32
 * bytes all in. Evicts tails before roots, so what is left always matches from
 * the root. A holder is a target id. Removing a holder is O(1).
 *
 * A record is provisional until the first byte of a good answer confirms it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/ladder.h"
#include "policies/core/time.h"

struct prefix_index;

struct prefix_match {
	uint32_t holder; /* target id */
	uint32_t blocks; /* consecutive blocks from the root that it holds, >= 1 */
	bool continued;  /* its deepest matched record has a child there: others went on from it */
};

struct prefix_limits {
	uint32_t records; /* 1024..16 Mi, allocated at once */
	uint32_t holders; /* target ids below this; 1..65535 */
	usec_t ttl;
	usec_t provisional_ttl;
	double holder_bytes; /* default budget of a holder, bytes of prompt */
};

struct prefix_counts {
	uint32_t records; /* in use */
	uint64_t evicted_budget, evicted_full, evicted_expired, evicted_failed, evicted_holder;
};

/* NULL when out of memory. Nothing below allocates. */
MUST_CHECK struct prefix_index *prefix_index_new(const struct prefix_limits *limits);
void prefix_index_free(struct prefix_index *index);
/* TTLs and default budget may change on reload; capacities may not. */
void prefix_index_tune(struct prefix_index *index, const struct prefix_limits *limits);

/* c[i] = XXH64(le64(c[i-1]) + le64(h[i]), seed 0), c[-1] = the name space. Vectors
 * in docs/strategies.md. The index will be asked for it next: what that has of it comes from
 * memory meanwhile. NULL: no index will. */
void prefix_chain(const struct prefix_index *index, uint64_t name_space, const uint64_t *hashes,
                  uint32_t blocks, uint64_t *ret_chain);
/* Of ladder id and model (7.1), salt and lora empty when absent. */
struct span;
uint64_t prefix_name_space(const struct span *ladder, const struct span *model,
                           const struct span *lora, const struct span *salt);

/* Each live holder of block 0, with how far it holds on. At most room of them.
 * Changes no order and no time: looking is free. */
size_t prefix_index_match(const struct prefix_index *index, const uint64_t *chain, uint32_t blocks,
                          usec_t now, struct prefix_match *ret_matches, size_t room);

/* Insert what the holder lacks, provisional; confirmed records stay as they are,
 * but none is evicted before its descendants. ladder gives the bytes of each
 * block; another ladder than before empties the index. */
void prefix_index_bind(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                       uint32_t blocks, const struct ladder *ladder, usec_t now);
/* A good first byte: all of the chain is confirmed, inserted where missing, and
 * fresh (TTL refreshed; deepest touched first, root last). */
void prefix_index_confirm(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                          uint32_t blocks, const struct ladder *ladder, usec_t now);
/* As a confirmation of an earlier time, by somebody else: as old as it is, and never in place of
 * what was confirmed later. at: now less its age, which wraps before the machine's start. False:
 * nothing came of it, for it is known, or too old, or before the holder was forgotten, or there is
 * room only at the cost of what is fresher. */
bool prefix_index_learn(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                        uint32_t blocks, const struct ladder *ladder, usec_t at, usec_t now);
/* As an eviction of an earlier time: what was confirmed later stays. How many went. */
uint32_t prefix_index_unlearn(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                              uint32_t blocks, usec_t at, usec_t now);
/* Delete the chain's records of this holder that are still provisional. */
void prefix_index_withdraw(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                           uint32_t blocks);
/* An abnormal answer on a hit: delete all of the chain's records of this holder.
 * How many went. */
uint32_t prefix_index_evict(struct prefix_index *index, uint32_t holder, const uint64_t *chain,
                            uint32_t blocks);
/* The holder restarted or is gone: nothing it held counts any more. */
void prefix_index_forget(struct prefix_index *index, uint32_t holder);
/* The same, as somebody else says it was at an earlier time. False: we know of it already, from
 * about that time, or later; then what it has held since stays. */
bool prefix_index_forget_told(struct prefix_index *index, uint32_t holder, usec_t at, usec_t now);
/* Bytes of prompt this holder can keep; 0: the default. */
void prefix_index_budget(struct prefix_index *index, uint32_t holder, double bytes);

/* How many blocks from the root on the holder is known to have, by a good answer. */
uint32_t prefix_index_confirmed(const struct prefix_index *index, uint32_t holder,
                                const uint64_t *chain, uint32_t blocks, usec_t now);
uint32_t prefix_index_capacity(const struct prefix_index *index);
struct prefix_counts prefix_index_counts(const struct prefix_index *index);
/* Records of one holder, for show and metrics; the expired count until they are met. */
uint32_t prefix_index_held(const struct prefix_index *index, uint32_t holder);
