/* balance.h - load in requests, by what each target can bear; for signal load-balance, the
 * imbalance gate, and pickers that draw by it.
 *
 * Capacity C is the output rate that an engine showed at its best (policies/state/rates.h),
 * C_rel = C / mean of the C that are known. An unknown C counts as C_rel 1. Where C is known of
 * nobody, HAProxy's weights stand for it, as everywhere else. An instance is the mean of its
 * replicas.
 *
 *     load = (running + penalties + 1 + l x pending) / C_rel x (1 + a x (1 - free)^2)
 *
 * free = 1 - KV usage, 1 where it is not known; below `balance-critical` the load is infinite,
 * unless all are: then the cache counts for nobody. The 1 is the request itself, so an idle
 * fast target comes before an idle slow one. */
#pragma once

#include "policies/core/route.h"

/* What all of walk->pool[0..standing) have in common. */
struct balance {
	double mean;    /* of the known capacities; 0: none is */
	bool all_known; /* of each standing */
	bool no_room;   /* all are critical */
};

/* kv: whether the cache will be asked for. */
struct balance balance_of(const struct walk *walk, bool kv);
/* In requests, >= 0; infinite where the cache is full. */
double balance_load(const struct balance *balance, const struct walk *walk,
                    const struct candidate *candidate);
/* Running requests as they compare: by capacity where all are known, else by weight. */
double balance_running(const struct balance *balance, const struct walk *walk,
                       const struct candidate *candidate);
