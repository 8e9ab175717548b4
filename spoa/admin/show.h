/* show.h - the agent's JSON objects as text for people. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/* SHOWN(name, path, NAME's query argument or "", help): what can be shown. */
#define SHOWN_THINGS(SHOWN)                                                                        \
	SHOWN(agent, "/api/v1/agent", "", "the agent itself: version, policy, traffic, alarms")    \
	SHOWN(instances, "/api/v1/instances", "", "instances: load, strategy, prefix hits")        \
	SHOWN(replicas, "/api/v1/replicas", "instance", "replicas, of instance NAME or all")       \
	SHOWN(engines, "/api/v1/replicas", "instance",                                             \
	      "engines: their own pages, and how fast they were seen to be")                       \
	SHOWN(prefix, "/api/v1/prefix", "", "the prefix index and who holds how much of it")       \
	SHOWN(sessions, "/api/v1/sessions", "", "where sessions are pinned, and how they moved")   \
	SHOWN(adapters, "/api/v1/adapters", "", "LoRA adapters: how hot they are, and where")      \
	SHOWN(haproxy, "/api/v1/haproxy", "", "HAProxy processes")                                 \
	SHOWN(models, "/v1/models", "", "models served")                                           \
	SHOWN(decisions, "/api/v1/decisions", "id",                                                \
	      "the last decisions, or all about that of id NAME")                                  \
	SHOWN(limits, "/api/v1/limits", "", "what tenants and models use of their limits")         \
	SHOWN(tenants, "/api/v1/tenants", "", "the tenants that had most tokens lately")           \
	SHOWN(store, "/api/v1/store", "", "the store by which agents share, and who is heard")     \
	SHOWN(config, "/api/v1/config", "", "the policy in force, as JSON")

#define AS_FUNCTION(name, ...) void show_##name(const json_t *object, FILE *out);
SHOWN_THINGS(AS_FUNCTION)
#undef AS_FUNCTION

/* What explain.h makes. */
void show_explain(const json_t *decision, FILE *out);
