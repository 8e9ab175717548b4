/* fault.h - what goes wrong on demand: one request's fault as text. Pure. */
#pragma once

#include <stdbool.h>

#include "policies/core/span.h"

/* Kind, how it is written, what it does. */
#define FAULTS(X)                                                                                  \
	X(NONE, "none", "nothing")                                                                 \
	X(RESET, "reset", "resets the connection before an answer")                                \
	X(RESET_MID, "reset-mid", "resets the connection in the middle of the answer")             \
	X(HANG, "hang", "never answers")                                                           \
	X(HANG_MID, "hang-mid", "stops in the middle of the answer")                               \
	X(SLOW, "slow", "begins :MS milliseconds later")                                           \
	X(CLOSE, "close", "closes the connection after the answer without a word")

enum fault_kind {
#define X(kind, name, help) FAULT_##kind,
	FAULTS(X)
#undef X
	        FAULT_STATUS, /* written as the number: 500, 503:7 with Retry-After, 429:7 */
};

struct fault {
	enum fault_kind kind;
	int status;      /* of FAULT_STATUS, 400 to 599 */
	int retry_after; /* seconds of FAULT_STATUS, -1 for none */
	int delay_ms;    /* of FAULT_SLOW */
};

/* False when it is no fault we know. */
bool fault_parse(struct span text, struct fault *ret_fault);
