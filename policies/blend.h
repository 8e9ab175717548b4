/* blend.h - strategies made of several, and what is added to one that is named alone.
 *
 *     text  = part { "," part }
 *     part  = name [ ":" coefficient ]        coefficient 0..1000000, 1 if not given
 *
 * Spaces and tabs around names and coefficients do not count. A part gives its signals, its
 * coefficient divided among them as its own recipe weighs them; 0 leaves the part out. An
 * exclusive part (pd, slo...) is used alone. The picker is `best`, the gate and the
 * sigma filter run where any part has them, a held prefix counts by score.
 *
 * Then, so that no strategy runs blindly into a target that is hot, the policy's blend is
 * appended: load-balance, and least-request unless a part counts requests already; neither
 * where the text names it, with whatever coefficient. Of a name alone only where its row says
 * so, and its picker stays: one that draws among k then goes by load-balance. prefix-cache
 * alone has a proportion of its own, 5:4. A weight of 0 for load-balance turns all this off.
 *
 * Nothing is allocated: a header is compiled into memory of the decider. */
#pragma once

#include "policies/core/policy.h"
#include "policies/core/span.h"

enum { BLEND_PARTS_MAX = 8, BLEND_TEXT_MAX = 256, BLEND_COEFFICIENT_MAX = 1000000 };

/* BLEND_FAULT(id, text): why a text means no strategy. */
#define BLEND_FAULTS(BLEND_FAULT)                                                                  \
	BLEND_FAULT(NONE, "nothing is wrong")                                                      \
	BLEND_FAULT(UNKNOWN, "unknown name")                                                       \
	BLEND_FAULT(COEFFICIENT, "the coefficient is no whole number from 0 to 1000000")           \
	BLEND_FAULT(TWICE, "is named twice")                                                       \
	BLEND_FAULT(ALONE, "cannot stand beside others")                                           \
	BLEND_FAULT(NOTHING_NAMED, "nothing has a coefficient above 0")                            \
	BLEND_FAULT(TOO_MANY, "too many strategies or signals")

#define AS_ENUM(id, ...) BLEND_##id,
enum blend_fault { BLEND_FAULTS(AS_ENUM) };
#undef AS_ENUM

struct blend_problem {
	enum blend_fault fault;
	struct span part; /* within the text */
};

/* Room for one that is not in any table. */
struct blend {
	struct strategy strategy;
	char name[BLEND_TEXT_MAX]; /* as it was asked for */
};

/* The strategy that the text means under this policy: a row, the operator's own, or
 * &room->strategy. NULL when it means none; *ret_problem says why. */
const struct strategy *blend_strategy(const struct policy *policy, struct span text,
                                      struct blend *room, struct blend_problem *ret_problem);

/* What is blended into one that is named alone: itself, or &room->strategy. */
const struct strategy *blend_alone(const struct policy *policy, const struct strategy *strategy,
                                   struct blend *room);

/* "prefix:5,load-balance:4": the signals and weights that count, cut at its room. Three
 * decimals. Empty for a strategy that reads none. */
void blend_describe(const struct strategy *strategy, char ret_text[BLEND_TEXT_MAX]);

const char *blend_fault_text(enum blend_fault fault);
