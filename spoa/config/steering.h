/* steering.h - request headers that steer an engine, its side-car or an agent, and are
 * therefore no client's to set.
 *
 * The generator deletes them behind the group that asks, before ours are set; the
 * checker wants each deleted without a condition. A name that ends with "-" stands for
 * all that begin so.
 *
 * STEERING(name, what a client could do with it) */
#pragma once

#define STEERING_HEADERS(STEERING)                                                                 \
	STEERING("x-infer-", "clients can steer the next agent")                                   \
	STEERING("routing-strategy", "clients can choose the strategy of the next gateway")        \
	STEERING("x-prefiller-", "clients can name the prefill host")                              \
	STEERING("x-data-parallel-", "clients can choose the rank, and the host that has it")      \
	STEERING("x-encoder-hosts-ports", "clients can name the encoders' hosts")                  \
	STEERING("x-kv-cache-source-host-port", "clients can name the host a KV cache comes from") \
	STEERING("x-llm-d-", "clients can name the hosts that a side-car asks")
