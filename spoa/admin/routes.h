/* routes.h - which path gives what, and who may ask.
 *
 * ROUTE(id, path, who, help). ALL: anybody who reaches us; READ: over a unix
 * socket or from loopback; WRITE: by POST, over a unix socket, root or the agent's
 * own user (spoa/admin/act.h looks). A path that ends in '/' takes a name behind it. */
#pragma once

#include <stdint.h>

#define ROUTES(ROUTE)                                                                              \
	ROUTE(HEALTHZ, "/healthz", ALL, "200 while the loop turns.")                               \
	ROUTE(READYZ, "/readyz", ALL, "200 while it listens and has a policy.")                    \
	ROUTE(METRICS, "/metrics", ALL, "Numbers for Prometheus.")                                 \
	ROUTE(MODELS, "/v1/models", ALL, "The models served, as OpenAI lists them.")               \
	ROUTE(MODEL, "/v1/models/", ALL, "One of them.")                                           \
	ROUTE(AGENT, "/api/v1/agent", READ, "The agent itself.")                                   \
	ROUTE(INSTANCES, "/api/v1/instances", READ, "Instances.")                                  \
	ROUTE(REPLICAS, "/api/v1/replicas", READ, "Replicas, of ?instance= or all.")               \
	ROUTE(PREFIX, "/api/v1/prefix", READ, "The prefix index.")                                 \
	ROUTE(SESSIONS, "/api/v1/sessions", READ, "Where sessions are pinned.")                    \
	ROUTE(ADAPTERS, "/api/v1/adapters", READ, "LoRA adapters, and where they are.")            \
	ROUTE(HAPROXY, "/api/v1/haproxy", READ, "HAProxy processes.")                              \
	ROUTE(DECISIONS, "/api/v1/decisions", READ, "Last ?n= decisions, or the one of ?id=.")     \
	ROUTE(EXPLAIN, "/api/v1/explain", READ,                                                    \
	      "The decision of ?id= with its prefix; POST: where a request would go now.")         \
	ROUTE(LIMITS, "/api/v1/limits", READ, "What is used of limits.")                           \
	ROUTE(TENANTS, "/api/v1/tenants", READ, "Tenants that had most lately.")                   \
	ROUTE(STORE, "/api/v1/store", READ, "What is shared with other agents.")                   \
	ROUTE(CONFIG, "/api/v1/config", READ, "The policy in force.")                              \
	ROUTE(ACT, "/api/v1/act/", WRITE, "POST: drain, enable, eject, flush a ?target=; reload.")

#define AS_ENUM(id, ...) ROUTE_##id,
enum route { ROUTES(AS_ENUM) ROUTE_OTHER, ROUTE_COUNT };
#undef AS_ENUM

/* Answers by class of status, 1xx..5xx at 1..5. */
struct route_counts {
	uint64_t answers[ROUTE_COUNT][6];
};

struct web_request;
struct web_answer;
struct admin;

/* The handler of spoa/web/listen.h; data is the struct admin. */
void routes_answer(void *data, const struct web_request *request, struct web_answer *ret_answer);
