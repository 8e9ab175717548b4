/* fleet_parts.h - what the files of the fleet share; nobody else looks in here.
 *
 * A home is a backend, a member one server of it under one address. They are the
 * truth, kept over snapshots; instances and replicas are the view of it that
 * everybody else reads, laid out anew whenever something changed. Home i and
 * instance i are not the same place: the view has no gaps. */
#pragma once

#include <string.h>

#include "policies/core/policy.h"
#include "policies/state/fleet.h"
#include "policies/state/lookup.h"

enum { SKIPPED_MAX = 16, KEPT_MAX = 64, MISSED_MAX = 4 };
/* Of a target that is a rank: an address, "#" and a number. */
enum { LABEL_MAX_BYTES = ADDRESS_MAX_BYTES + 8 };
#define NO_PLACE UINT32_MAX /* beyond what an enum may hold */

/* What one HAProxy says of one server. */
struct said {
	bool listed, maintenance, draining, up;
	double weight;
	uint32_t max_running;
	uint32_t seen; /* number of the snapshot */
};

struct member {
	bool used;
	uint32_t home, target;
	char name[SOURCES_MAX][NAME_MAX_BYTES];
	struct said said[SOURCES_MAX];
};

struct home {
	bool used;
	uint32_t target;
	uint32_t place; /* in the view */
	char name[NAME_MAX_BYTES];
	const struct instance_policy *policy;
	bool listed[SOURCES_MAX];
	uint32_t seen[SOURCES_MAX];
};

/* What the engine at a target serves. */
struct served_models {
	bool known;
	uint32_t count;
	uint16_t ids[INSTANCE_MODELS_MAX];
	uint16_t bases[INSTANCE_MODELS_MAX]; /* of an adapter: the model it changes; else 0 */
	uint32_t missed_count;
	uint16_t missed[MISSED_MAX]; /* said to be served, and answered 404 */
};

struct model {
	bool used; /* an engine or the policy names it */
	char name[NAME_MAX_BYTES];
	uint32_t means;        /* an alias: the id of its model; else 0 */
	uint32_t base;         /* an adapter: the id of the model it changes; else 0 */
	bool loadable;         /* ... by the policy: whoever serves that can load it */
	uint64_t adapter;      /* ... lora_id() of its name; else 0 */
	uint32_t first, count; /* its run in the pairs */
};

struct fleet {
	struct fleet_limits limits;
	uint32_t targets_max;
	const struct policy *policy;
	char skipped[SKIPPED_MAX][NAME_MAX_BYTES];
	uint32_t skipped_count;
	char kept[KEPT_MAX][NAME_MAX_BYTES]; /* none: all are */
	uint32_t kept_count;
	uint32_t snapshot;

	struct target *targets;
	uint32_t *references;         /* by target: members that have it */
	struct served_models *served; /* by target */
	uint32_t *free_targets;       /* a stack */
	uint32_t free_count;
	struct lookup *by_address; /* of the targets that are replicas */

	struct home *homes;
	uint32_t homes_end; /* behind the last used */
	struct lookup *by_backend;
	struct member *members;
	uint32_t members_end;
	struct lookup *by_member; /* home and target */

	struct instance *instances;
	uint32_t instance_count;
	struct replica *replicas;
	char (*names)[SOURCES_MAX][NAME_MAX_BYTES]; /* by replica, apart: seldom read */
	uint32_t replica_count;
	struct lookup *by_name;   /* instance, source, server's name: to a replica */
	struct lookup *by_target; /* instance and target: to a replica */

	struct model *models; /* by id; 0 is nobody's */
	uint32_t models_end;
	bool any_adapter;
	struct lookup *by_model;
	struct served_models *offered;    /* by instance: what it serves, by policy or engines */
	const struct instance **pairs;    /* runs of one model each, in order of instances */
	const struct instance **unknown;  /* of which nothing is known */
	const struct instance **everyone; /* all */
	uint32_t unknown_count;
	uint32_t serving_known; /* models that some instance serves */
};

static inline struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static inline bool is_name(const char *name, struct span span)
{
	return strlen(name) == span.len && memcmp(name, span.at, span.len) == 0;
}

static inline bool is_span(struct span a, struct span b)
{
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* Of places in two tables, as the key of a lookup. */
static inline uint64_t pair_hash(uint32_t a, uint32_t b)
{
	uint64_t mixed = (((uint64_t)a << 32) | b) * 0x9e3779b97f4a7c15u;

	return mixed ^ (mixed >> 32);
}

/* fleet.c: by the very label, with its rank if it has one. */
struct target *fleet_labelled(const struct fleet *fleet, struct span label);
/* fleet_rank.c: "ip:port#rank"; the address is shorter than ADDRESS_MAX_BYTES. */
struct span fleet_rank_label(struct span address, uint32_t rank, char ret_label[LABEL_MAX_BYTES]);
/* fleet_rank.c: how many ranks the policy says this server has; 0 for none. */
uint32_t fleet_ranks_of(const struct instance_policy *policy, const struct server_fact *fact);

/* fleet_view.c: lays out instances and replicas anew, and who serves which model. */
void fleet_view(struct fleet *fleet);
/* fleet_models.c: only who serves which model. */
void fleet_view_models(struct fleet *fleet);
/* fleet_missed.c: what was missing and is by this list as well. */
void fleet_keep_missed(const struct fleet *fleet, uint32_t target, const struct span *models,
                       size_t count, struct served_models *served);
bool fleet_is_missed(const struct served_models *served, uint32_t model);

static inline bool fleet_policy_names_models(const struct instance *instance)
{
	return instance->policy && instance->policy->model_count > 0;
}
