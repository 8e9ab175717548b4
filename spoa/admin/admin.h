/* admin.h - the pages for people and for Prometheus, on a few addresses.
 *
 * Reads the facts; changes what an operator asks for (spoa/admin/act.h). Everything it shows is
 * pulled when asked for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/core/error.h"
#include "policies/state/facts.h"
#include "spoa/admin/agent_counters.h"
#include "spoa/admin/decision_log.h"
#include "spoa/admin/stages.h"

struct admin;
struct decider;
struct ev_loop;
struct store; /* redis/store.h */

#define ADMIN_SOCKET "unix:/run/inference-spoa/admin.sock"
#define ADMIN_TCP    "127.0.0.1:9901"

struct admin_options {
	const char *const *addresses; /* as spoa/web/listen.h takes them */
	size_t address_count;
};

/* What the pages are made of; borrowed, must outlive the admin. */
struct admin_context {
	struct facts *facts;
	struct decision_log *decisions; /* NULL: none kept */
	struct decider *decider;        /* for dry runs; NULL: none can be made */
	const struct store *store;      /* by which agents share; NULL: there is none */
	/* Called before each page that shows the agent; the counters come zeroed. */
	void (*fill)(void *data, struct agent_counters *ret_counters);
	bool (*reload)(void *data); /* the policy; false: it is refused; NULL: cannot be */
	void *data;
	usec_t (*now)(void);      /* monotonic */
	int64_t (*wall_ms)(void); /* epoch */
	struct stage_names stages;
};

/* NULL, with a reason, when an address cannot be had. */
MUST_CHECK struct admin *admin_new(struct ev_loop *loop, const struct admin_options *options,
                                   struct admin_context *context, struct error *error);
void admin_free(struct admin *admin);
/* Port of address number i; 0 for a unix socket. */
uint16_t admin_port(const struct admin *admin, size_t i);
