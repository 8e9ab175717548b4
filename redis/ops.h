/* ops.h - what was asked of the store, how that ended and how long it took. */
#pragma once

#include "policies/state/counters.h"
#include "redis/results.h"

/* OP(id, label): commands. What XREAD takes is mostly waiting, and is not timed. */
#define OPS(OP)                                                                                    \
	OP(ADD_LIVE, "xadd-live")                                                                  \
	OP(ADD_KEPT, "xadd-kept")                                                                  \
	OP(EXPIRE, "pexpire")                                                                      \
	OP(TIME, "time")                                                                           \
	OP(RANGE, "xrevrange")                                                                     \
	OP(READ, "xread")
#define AS_OP(id, ...) OP_##id,
enum op { OPS(AS_OP) OP_COUNT };
#undef AS_OP
extern const char *const op_labels[OP_COUNT];

struct ops {
	uint64_t results[OP_COUNT][REDIS_RESULT_COUNT];
	struct histogram took[OP_COUNT]; /* bounds_store_op */
};

extern const struct bounds bounds_store_op; /* seconds, 0.5 ms to 5 s */

/* Only what was answered is timed. */
void ops_note(struct ops *ops, enum op op, enum redis_result result, usec_t took);
