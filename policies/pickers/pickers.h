/* pickers.h - every picker there is. To add one: write its file, add its line. */
#pragma once

#include "policies/core/span.h"
#include "policies/pickers/picker.h"

#define PICKERS(PICKER)                                                                            \
	PICKER(best)                                                                               \
	PICKER(p2c)                                                                                \
	PICKER(random)                                                                             \
	PICKER(soft_k)                                                                             \
	PICKER(top_k)                                                                              \
	PICKER(weighted)

#define AS_EXTERN(name) extern const struct picker picker_##name;
PICKERS(AS_EXTERN)
#undef AS_EXTERN

/* NULL when there is none of that name. `global-best` is `best`. */
const struct picker *picker_named(struct span name);
