/* signals.h - every signal there is. To add one: write its file, add its line. */
#pragma once

#include "policies/core/span.h"
#include "policies/signals/signal.h"

#define SIGNALS(SIGNAL)                                                                            \
	SIGNAL(e2e)                                                                                \
	SIGNAL(failures)                                                                           \
	SIGNAL(kv_usage)                                                                           \
	SIGNAL(pending)                                                                            \
	SIGNAL(prefix)                                                                             \
	SIGNAL(running)                                                                            \
	SIGNAL(session)                                                                            \
	SIGNAL(tokens)                                                                             \
	SIGNAL(ttft)                                                                               \
	SIGNAL(work)

#define AS_EXTERN(name) extern const struct signal signal_##name;
SIGNALS(AS_EXTERN)
#undef AS_EXTERN

/* NULL when there is none of that name. */
const struct signal *signal_named(struct span name);
