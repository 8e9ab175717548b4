/* balance.h - how many requests it takes until all replicas get about as many. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "policies/core/error.h"

enum { BALANCE_EACH = 25 }; /* the last so many requests per replica are looked at */

struct balance;

/* NULL when out of memory. */
MUST_CHECK struct balance *balance_new(uint32_t replicas);
void balance_free(struct balance *balance);
/* One more request went there. */
void balance_add(struct balance *balance, uint32_t replica);
/* The first request at which each replica had between a half and one and a half of its
 * part of the last ones; 0: there was none. */
size_t balance_reached(const struct balance *balance);
