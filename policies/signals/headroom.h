/* headroom.h - how well a target would keep what a request is to be served within.
 *
 * For each objective that is given and can be predicted: 1 - predicted / objective. 1 is at
 * once, 0 just in time, below 0 too late; the least of them counts. Predicted are the time
 * to the first token (signal predicted-ttft), from token to token (tpot), and of the whole
 * (latency). */
#pragma once

#include "policies/core/route.h"

struct headroom {
	double value;   /* at most 1 */
	double late_ms; /* predicted - objective, of the one that counts; of tpot, and in time: 0 */
	bool trusted;   /* the target's own samples predict it, so that a request may be refused
	                 * on its word */
};

/* False, and nothing stored, where there is no objective, or none that can be predicted. */
bool headroom_read(const struct walk *walk, const struct candidate *candidate,
                   struct headroom *ret_headroom);
