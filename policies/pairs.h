/* pairs.h - level 2 of a strategy that makes pairs: who computes the prompt, and who
 * decodes. */
#pragma once

#include "policies/core/route.h"

/* Among those standing, by the phases of walk->entry, whose order may change.
 *
 * D of a decode replica and P of a prefill replica are their costs (phases.h):
 *  1. d* is the decode replica of the least D. Lacks it fewer bytes of the prompt than
 *     remote-prefill-min-bytes, it serves alone.
 *  2. Else the pair of one roleset with the least P / max P + D / max D; if its decode
 *     replica lacks so little, it serves alone.
 *  3. A combined replica instead, if it runs less than combined-below of its slots while
 *     one of the two runs more than combined-above of its own; or if there is no pair:
 *     the one with the least work.
 *  4. Neither a pair nor a combined one: d* serves alone, if it may.
 * Equal costs: who was chosen least recently.
 *
 * True: ret_trace->chosen, prefill and pair are set. False: nobody can serve. The score
 * of a candidate is 1 less its part of the cost, the best of a role 1. */
bool pairs_choose(struct walk *walk, struct level_trace *ret_trace);
