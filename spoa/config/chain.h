/* chain.h - from layers of JSON objects to a chain of entries.
 *
 * What is set nearer wins: the defaults, then the defaults of the level, then
 * the rule or instance, then the entry of its chain. The nearest layer that
 * names a strategy or a chain says which; the other keys of all layers then
 * apply on top of that strategy's own settings. Options of a picker belong to
 * the strategy they stand beside and are inherited only with it. */
#pragma once

#include "policies/core/policy.h"
#include "spoa/config/loading.h"

enum { LAYERS_MAX = 4 };

struct layers {
	const struct node *nodes[LAYERS_MAX]; /* the farthest first; NULLs are skipped */
	size_t count;
	int level; /* 1 or 2 */
};

/* How many entries, at least 1. Complains only about what stands in the last
 * layer: the others are somebody else's last. */
uint32_t chain_load(struct loading *loading, const struct layers *layers,
                    struct entry_policy ret_chain[CHAIN_MAX]);
