/* fleet.h - who there is: instances and their replicas, as HAProxy tells it.
 *
 * Discovery hands in whole snapshots; the fleet finds out what changed. State is
 * keyed by address: a server slot that gets another address is another target,
 * and the old one's history stays with its address until nobody lists it.
 *
 * Target ids are dense and re-used. fleet_apply() reports those that are gone, so
 * that whoever keeps tables by id can forget them (facts_forget does it all). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/core/model_names.h"
#include "policies/core/span.h"
#include "policies/core/target.h"

struct policy;
struct fleet;

struct fleet_limits {
	uint32_t instances; /* 1..1024 */
	uint32_t replicas;  /* 1..16384 */
	uint32_t models;    /* 1..4096 distinct names */
};

/* One server line of a snapshot. Spans are copied. Where the policy says that it has ranks,
 * each becomes a replica, and has its part of weight and limit. */
struct server_fact {
	struct span backend, server, address; /* address "ip:port", "[ip6]:port" */
	double weight;                        /* HAProxy's, as set now; 0..256 */
	bool maintenance, draining, up;
	uint32_t max_running; /* 0 = no limit */
};

struct fleet_change {
	uint32_t instances_added, instances_gone;
	uint32_t replicas_added, replicas_gone, replicas_moved; /* moved: other address */
	uint32_t states_changed;
	uint32_t refused; /* beyond the limits, or a name too long: counted, not an error */
	bool any;
};

MUST_CHECK struct fleet *fleet_new(const struct fleet_limits *limits);
void fleet_free(struct fleet *fleet);

/* Targets are below this, for sizing tables: instances + replicas of the limits. */
uint32_t fleet_targets_max(const struct fleet *fleet);

/* This backend is no instance (the agent's own, ...): snapshots leave it out from
 * now on. False when there are too many such names, or it is too long. */
bool fleet_skip(struct fleet *fleet, struct span backend);
/* From the first of these on only backends of such names are instances: "x" itself, or all
 * that begin so of "x*". False as above. */
bool fleet_keep(struct fleet *fleet, struct span pattern);

/* The whole list of HAProxy number `source` (below SOURCES_MAX). Servers without
 * a usable address (empty slots: "127.0.0.1:1", port 0) are left out, their
 * backend is not: an instance may have no replica. Where HAProxies differ on a
 * replica the worst counts: usable and up only if all that list it say so, the
 * least weight, the sum of their limits. on_gone is told each target id that
 * nobody lists any more, before the id is used again. Off the request path; may
 * be O(servers). */
struct fleet_change fleet_apply(struct fleet *fleet, uint32_t source,
                                const struct server_fact *facts, size_t count, usec_t now,
                                void (*on_gone)(void *data, uint32_t target), void *data);
/* A HAProxy that cannot be asked any more keeps its servers; this drops them. */
void fleet_drop_source(struct fleet *fleet, uint32_t source, usec_t now,
                       void (*on_gone)(void *data, uint32_t target), void *data);

/* Names, weights and models of the policy are applied; it must outlive the
 * fleet's use of it. Recomputes which instances serve which model. */
void fleet_bind(struct fleet *fleet, const struct policy *policy);

/* The engine at this target serves exactly these models (from /v1/models); at
 * most INSTANCE_MODELS_MAX are kept. count 0: not known (any more). Unknown models of a replica
 * make it a candidate for any. Where the policy names the models of an instance, what its engines
 * say does not count. bases: of each the model that it is an adapter of, empty if it is none;
 * NULL: none is. True if it changed. */
bool fleet_models(struct fleet *fleet, uint32_t target, const struct span *models,
                  const struct span *bases, size_t count);

/* A name that the engine at this target should answer to: the first it lists, or else
 * what the policy says is sent there. NULL when nothing is known. */
const char *fleet_name_at(const struct fleet *fleet, uint32_t target);

/* The engine at this target answered 404 to a request for this model, which it lists, or
 * which the policy promises of it: it is no candidate for the model until it lists it
 * again. A wrong path is answered 404, too, so this holds only for an engine that can be
 * asked for its list, and not if no other replica of the instance were left. True: it is
 * to be asked. */
bool fleet_miss_model(struct fleet *fleet, const struct instance *instance, uint32_t target,
                      uint32_t model);

/* An operator takes new requests from this target, or gives them back: as if HAProxy said
 * that it drains, or the policy that its weight is 0. Until it is gone, or we are. */
void fleet_hold(struct fleet *fleet, uint32_t target, bool held);

size_t fleet_instance_count(const struct fleet *fleet);
const struct instance *fleet_instance_at(const struct fleet *fleet, size_t i);
/* NULL when there is none. */
const struct instance *fleet_instance_named(const struct fleet *fleet, struct span name);
/* By server name as the given HAProxy calls it; NULL when there is none. */
const struct replica *fleet_replica_named(const struct fleet *fleet,
                                          const struct instance *instance, uint32_t source,
                                          struct span name);
/* NULL when no replica of the instance has that address. Of a server with ranks, by
 * address or by name, it is the first rank. */
const struct replica *fleet_replica_at_address(const struct fleet *fleet,
                                               const struct instance *instance,
                                               struct span address);
/* NULL when the target is no replica of the instance. */
const struct replica *fleet_replica_of_target(const struct fleet *fleet,
                                              const struct instance *instance, uint32_t target);
/* The same server's rank of that number; the replica itself when it has none. NULL when
 * there is no such rank. */
const struct replica *fleet_replica_rank(const struct fleet *fleet, const struct instance *instance,
                                         const struct replica *replica, uint32_t rank);
/* NULL when free. */
struct target *fleet_target(const struct fleet *fleet, uint32_t id);
/* Target of an address, whatever instance lists it; NULL when unknown. "ip:port#rank" is
 * a rank, without it the first. */
struct target *fleet_target_at(const struct fleet *fleet, struct span address);

/* Model ids: 0 = no model named. TARGET_NONE: a name that nobody serves and no
 * policy knows. Aliases of the policy are followed. */
uint32_t fleet_model_id(const struct fleet *fleet, struct span name);
/* NULL for TARGET_NONE, 0, and an id that is not used. */
const char *fleet_model_name(const struct fleet *fleet, uint32_t model);
/* asked: as the client calls it, and it is called where nobody else has a name for it. */
struct model_names fleet_model_names(const struct fleet *fleet, uint32_t model, struct span asked);
/* Ids are 1..count, with gaps; aliases have ids of their own, which
 * fleet_model_id() never returns. */
size_t fleet_model_count(const struct fleet *fleet);
/* lora_id() of its name if the model is a LoRA adapter: an engine that lists it says so, or the
 * policy, and by the policy it is served by whoever serves its base. 0: it is none. */
uint64_t fleet_adapter(const struct fleet *fleet, uint32_t model);
/* The id of the model that the adapter changes; 0: it is no adapter. */
uint32_t fleet_base(const struct fleet *fleet, uint32_t model);
/* Some model is an adapter. */
bool fleet_has_adapters(const struct fleet *fleet);
/* Instances that may serve this model: those whose policy names it and those with
 * a replica that lists it; if there is none, and for TARGET_NONE, those of which
 * nothing is known (so a backend that is no engine gets no model's requests
 * while another is known to serve it). Borrowed until the next change. For model
 * 0 (none named): those of the only model that is served, or all while none is
 * known; where there are several, those of the policy's default-model, else none. */
const struct instance *const *fleet_serving(const struct fleet *fleet, uint32_t model,
                                            size_t *ret_count);
/* The replica serves this model, or what it serves is not known. */
bool fleet_replica_serves(const struct fleet *fleet, const struct instance *instance,
                          const struct replica *replica, uint32_t model);
/* What HAProxy number `source` calls this replica; "" when it does not have it. */
const char *fleet_replica_name(const struct replica *replica, uint32_t source);
