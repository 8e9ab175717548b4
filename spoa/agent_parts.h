/* agent_parts.h - what the files agent*.c share. Nobody else includes it. */
#pragma once

#include <ev.h>

#include "policies/pipeline.h"
#include "policies/state/facts.h"
#include "redis/store.h"
#include "spoa/admin/admin.h"
#include "spoa/config/policy.h"
#include "spoa/engines/profiles.h"
#include "spoa/file_watch.h"
#include "spoa/journal.h"
#include "spoa/line_watch.h"
#include "spoa/notify.h"
#include "spoa/observe/agent_check.h"
#include "spoa/observe/discovery.h"
#include "spoa/observe/log_line.h"
#include "spoa/observe/log_receiver.h"
#include "spoa/observe/models.h"
#include "spoa/observe/probe.h"
#include "spoa/observe/scraper.h"
#include "spoa/run_options.h"
#include "spoa/server/server.h"
#include "spoa/web/fetch.h"

struct agent {
	struct run_options options;
	struct journal journal;
	struct notify notify;
	struct ev_loop *loop;
	struct policy_file *policy_file;
	struct file_watch policy_watch;
	struct facts *facts;
	struct decider *decider;
	struct message_context messages;
	struct spop_server *server;
	struct log_receiver *receiver;
	struct fetch *fetch;
	struct credential credential; /* for engines */
	struct discovery *discovery;
	struct engine_profiles *profiles;
	struct scraper *scraper;
	struct models *models;
	struct probe *probe;
	struct agent_check *agent_check;
	enum health_state *health_said; /* by target id: what the journal knows */
	struct decision_log *decisions;
	struct store *store; /* NULL: nothing is shared */
	struct admin_context admin_context;
	struct admin *admin;

	ev_signal on_hup, on_term, on_int;
	ev_timer sweep; /* expiry of slots, every few seconds */
	ev_timer look;  /* at the replicas' health, every second */
	ev_timer flush; /* decision records to stdout */
	ev_timer pulse; /* a beat to measure how late the loop is */
	ev_timer drain; /* looks whether all have said goodbye */
	ev_timer alive; /* tells the service manager's watchdog that the loop runs */
	usec_t pulse_due;
	usec_t left_at;    /* the store was told that we go */
	usec_t drain_from; /* health checks fail until then, goodbye is said after */
	bool draining, drained;

	uint64_t lines[LOG_LINE_RESULT_COUNT];
	struct line_watch line_watch;
	bool lines_missing;
	uint64_t reloads_ok, reloads_refused;
	int64_t started_ms, reloaded_ms;
	bool policy_refused; /* the last reload was */
	struct histogram loop_lag;
	uint64_t loop_stalls;
};

/* agent.c: what the texts of decisions need, as of now. */
struct decision_words agent_words(const struct agent *agent);

/* agent_watch.c: begins to listen to timers and signals; and lets go of signals, which
 * belong to the process rather than to the loop. */
void agent_watch(struct agent *agent);
void agent_unwatch(struct agent *agent);

/* agent_reload.c: reads the policy again and swaps it, or says why not. */
bool agent_reload(struct agent *agent);
/* NULL, with every problem said, when it is bad. */
struct policy_file *agent_load_policy(struct agent *agent);
struct engine_profiles *agent_load_profiles(struct agent *agent);

/* agent_reload.c: reads the credential that engines are to see; says so if it cannot. */
void agent_read_credential(struct agent *agent);

/* agent_events.c: what the parts tell us. */
void agent_on_decision(void *data, const struct request *request, const struct decision *decision,
                       usec_t took);
void agent_on_first_byte(void *data, const struct first_byte *event,
                         const struct feedback *feedback);
void agent_on_line(void *data, struct span line);
void agent_on_expired(void *data, uint32_t target, uint32_t slots);
struct discovery_events agent_discovery_events(struct agent *agent);

/* agent_health.c: who is new, who lets requests wait; and what has changed is said. */
void agent_look(struct agent *agent);

/* agent_store.c: the store by which agents share what they know, if one is told of. */
MUST_CHECK bool agent_store_start(struct agent *agent, struct error *error);
/* The policy is another; says what needs a restart. */
void agent_store_set_policy(struct agent *agent);
/* We go: it is told. False while that has not arrived, and is still worth waiting for. */
void agent_store_leave(struct agent *agent);
bool agent_store_left(const struct agent *agent, usec_t now);

/* agent_counters.c: the numbers that only the agent has, for the admin pages. */
void agent_fill_counters(void *data, struct agent_counters *ret_counters);
