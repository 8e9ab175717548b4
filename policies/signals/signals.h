/* signals.h - every signal there is. To add one: write its file, add its line. */
#pragma once

#include "policies/core/span.h"
#include "policies/signals/signal.h"

#define SIGNALS(SIGNAL)                                                                            \
	SIGNAL(busy_time)                                                                          \
	SIGNAL(e2e)                                                                                \
	SIGNAL(fairness)                                                                           \
	SIGNAL(failures)                                                                           \
	SIGNAL(kv_usage)                                                                           \
	SIGNAL(latency)                                                                            \
	SIGNAL(load_balance)                                                                       \
	SIGNAL(lora)                                                                               \
	SIGNAL(pending)                                                                            \
	SIGNAL(preble)                                                                             \
	SIGNAL(predicted_ttft)                                                                     \
	SIGNAL(prefix)                                                                             \
	SIGNAL(running)                                                                            \
	SIGNAL(session)                                                                            \
	SIGNAL(slo)                                                                                \
	SIGNAL(slo_pack)                                                                           \
	SIGNAL(throughput)                                                                         \
	SIGNAL(tokens)                                                                             \
	SIGNAL(tpot)                                                                               \
	SIGNAL(ttft)                                                                               \
	SIGNAL(utilization)                                                                        \
	SIGNAL(work)

#define AS_EXTERN(name) extern const struct signal signal_##name;
SIGNALS(AS_EXTERN)
#undef AS_EXTERN

/* NULL when there is none of that name. */
const struct signal *signal_named(struct span name);
