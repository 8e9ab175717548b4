/* sources.h - what a page is made of, gathered once when it is asked for. */
#pragma once

#include "policies/state/facts.h"
#include "spoa/admin/agent_counters.h"
#include "spoa/admin/decision_log.h"
#include "spoa/admin/process.h"
#include "spoa/admin/routes.h"
#include "spoa/admin/stages.h"

struct decider;
struct store; /* redis/store.h */

struct sources {
	struct facts *facts;
	struct agent_counters agent;
	struct process_facts process;
	struct decision_log *decisions; /* NULL: none kept */
	struct decider *decider;        /* for dry runs; NULL: none can be made */
	const struct store *store;      /* by which agents share; NULL: there is none */
	const struct route_counts *routes;
	struct stage_names stages;
	usec_t now;
	int64_t wall_ms;
};

/* A replica's name for labels and tables: as the first HAProxy that has it calls
 * it. Its address, where another replica of the instance has that name elsewhere:
 * two lines with the same labels would make the whole page unreadable. */
const char *replica_label(const struct fleet *fleet, const struct instance *instance,
                          const struct replica *replica);

/* REPLICA_STATE(id, name), first that holds. */
#define REPLICA_STATES(REPLICA_STATE)                                                              \
	REPLICA_STATE(DISABLED, "disabled")                                                        \
	REPLICA_STATE(DOWN, "down")                                                                \
	REPLICA_STATE(EJECTED, "ejected")                                                          \
	REPLICA_STATE(HALF_OPEN, "half-open")                                                      \
	REPLICA_STATE(SUSPECT, "suspect")                                                          \
	REPLICA_STATE(BUSY, "busy")                                                                \
	REPLICA_STATE(RAMP, "ramp")                                                                \
	REPLICA_STATE(UP, "up")
#define AS_ENUM(id, ...) REPLICA_##id,
enum replica_state { REPLICA_STATES(AS_ENUM) REPLICA_STATE_COUNT };
#undef AS_ENUM
extern const char *const replica_state_names[REPLICA_STATE_COUNT];

enum replica_state replica_state(const struct sources *sources, const struct replica *replica);

/* How full it is: the fullest of slots, engine queue and KV cache, 1 = wants no
 * more. False when none is known. */
bool replica_saturation(const struct sources *sources, const struct replica *replica,
                        double *ret_ratio);

/* Sums over an instance's replicas. */
struct instance_sums {
	uint32_t ready;
	double queued;     /* -1: not known */
	double saturation; /* -1: not known */
};
struct instance_sums instance_sums(const struct sources *sources, const struct instance *instance);
