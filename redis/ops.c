/* ops.c - counts commands. */
#include "redis/ops.h"

#define AS_LABEL(id, label) label,
const char *const op_labels[OP_COUNT] = { OPS(AS_LABEL) };
#undef AS_LABEL

static const double seconds[] = { 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
	                          0.1,    0.25,  0.5,    1,     2.5,  5 };
const struct bounds bounds_store_op = { seconds, sizeof(seconds) / sizeof(seconds[0]) };

void ops_note(struct ops *ops, enum op op, enum redis_result result, usec_t took)
{
	ops->results[op][result]++;
	if (result < REDIS_RESULT_LATE && op != OP_READ)
		histogram_add(&ops->took[op], &bounds_store_op, (double)took / 1e6);
}
