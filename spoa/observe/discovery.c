/* discovery.c - asks each HAProxy once a second and hands on what it says.
 *
 * A new pid means a reload. The old process goes on with the streams it has, but
 * its socket is gone and its sessions are in nobody's scur: so what the in-flight
 * table knows to be older than the reload is added to what the new process
 * counts, else the drift would take those streams for ended. After a stop in
 * between (the socket refused) the old streams are dead, and the drift is right. */
#include "spoa/observe/discovery.h"

#include <ev.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "policies/feedback.h"
#include "spoa/messages/contract.h"
#include "spoa/observe/processes.h"
#include "spoa/observe/runtime.h"
#include "spoa/observe/session_counts.h"
#include "spoa/observe/snapshot.h"

enum { ANSWER_MAX = 16 * 1024 * 1024 };

static const usec_t default_interval = 250 * MSEC, default_deadline = 800 * MSEC;

/* A server's lines in the answer cost HAProxy time, so large fleets are asked less
 * often: a thousand servers every half second. */
static const usec_t interval_per_server = 250;
static const usec_t gone_after = 5 * SECOND; /* of a refusing socket */
static const usec_t down_after = 3 * SECOND; /* of a silent one */

static const char models_backend[] = "infer-models";

struct source {
	struct discovery *discovery;
	uint32_t number;
	struct discovery_source state;
	char address[128];
	struct runtime *runtime;
	ev_timer timer;
	usec_t started;       /* asked for the first time */
	usec_t refused_since; /* 0 = does not refuse */
	usec_t older_before;  /* flights from before this are an older process'; 0 = none */
	bool gone;            /* and told so */
	struct processes processes;
};

struct discovery {
	struct observe observe;
	struct discovery_events events;
	usec_t interval, deadline;
	struct source sources[SOURCES_MAX];
	uint32_t source_count;
	struct session_counts *counts;
	struct snapshot snapshot;
};

/* A target that nobody lists any more. */
static void on_gone(void *data, uint32_t target)
{
	struct discovery *discovery = data;

	facts_forget(discovery->observe.facts, target);
	session_counts_forget(discovery->counts, target);
}

static void copy_text(char *to, size_t room, struct span text)
{
	size_t length = text.len < room ? text.len : room - 1;

	if (length > 0)
		memcpy(to, text.at, length);
	to[length] = 0;
}

/* Requests decided since the old process's last answer may be in either. They are
 * taken for the old one's: live work must not leave the load, and what is counted
 * twice ends by itself. */
static void note_process(struct source *source, const struct runtime_info *info, usec_t now)
{
	struct discovery_source *state = &source->state;
	bool another = state->pid != 0 && state->pid != info->pid;

	processes_note(&source->processes, info->node, info->pid);
	state->pid = info->pid;
	state->stopping = info->stopping;
	state->dropped_logs = info->dropped_logs;
	copy_text(state->version, sizeof(state->version), info->version);
	if (!another)
		return;
	state->reloads++;
	source->older_before = source->refused_since ? 0 : now;
}

static void apply_fleet(struct source *source, usec_t now)
{
	struct discovery *discovery = source->discovery;
	const struct discovery_events *events = &discovery->events;
	struct fleet_change change;

	change = fleet_apply(discovery->observe.facts->fleet, source->number,
	                     discovery->snapshot.facts, discovery->snapshot.read.count, now,
	                     on_gone, discovery);
	if (change.any && events->on_change)
		events->on_change(events->data, source->number, &change);
}

/* A stream of an older process, still open by our book. */
struct older {
	struct source *source;
	uint32_t count;
};

static void add_older(void *data, const struct flight *flight)
{
	struct older *older = data;
	struct source *source = older->source;

	if (flight->source != source->number)
		return;
	older->count++;
	if (flight->replica_slot.target != TARGET_NONE)
		session_counts_add(source->discovery->counts, source->number,
		                   flight->replica_slot.target,
		                   &(struct session_count){ .current = 1 });
}

static void count_older(struct source *source)
{
	struct inflight *inflight = source->discovery->observe.facts->inflight;
	struct older older = { .source = source };

	if (!source->older_before)
		return;
	inflight_older(inflight, source->older_before, inflight_capacity(inflight), add_older,
	               &older);
	if (older.count == 0)
		source->older_before = 0;
}

static void count_sessions(struct source *source, const struct runtime_facts *read, usec_t now)
{
	struct discovery *discovery = source->discovery;
	struct facts *facts = discovery->observe.facts;
	bool complete = true;
	uint32_t missing;

	session_counts_begin(discovery->counts, source->number);
	source->state.servers = source->state.servers_down = 0;
	for (size_t i = 0; i < read->count; i++) {
		const struct runtime_server *server = &read->servers[i];
		struct span address = { server->address, strlen(server->address) };
		const struct target *target = fleet_target_at(facts->fleet, address);

		if (!target || !fleet_instance_named(facts->fleet, server->backend))
			continue;
		source->state.servers++;
		if (!runtime_server_up(server) && !runtime_server_maintenance(server))
			source->state.servers_down++;
		complete = complete && server->counted;
		session_counts_add(discovery->counts, source->number, target->id,
		                   &(struct session_count){ server->current, server->queued,
		                                            server->waiting });
	}
	count_older(source);
	if (complete)
		session_counts_done(discovery->counts, source->number);
	if (session_counts_apply(discovery->counts, facts, now, &missing) && missing > 0)
		observe_say(
		        &discovery->observe, OBSERVE_NOTICE,
		        "%u requests ended without an end line; HAProxy has them no more, their "
		        "slots are released",
		        missing);
}

static void answered(struct source *source, const struct runtime_facts *read, usec_t now)
{
	const struct discovery_events *events = &source->discovery->events;
	bool was_up = source->state.up;
	uint64_t reloads = source->state.reloads;

	note_process(source, &read->info, now);
	source->refused_since = 0;
	source->gone = false;
	source->state.answered = now;
	source->state.up = true;
	source->state.error[0] = 0;
	apply_fleet(source, now);
	count_sessions(source, read, now);
	if (source->state.reloads != reloads && events->on_reload)
		events->on_reload(events->data, source->number, &source->state);
	if (!was_up && events->on_up)
		events->on_up(events->data, source->number, &source->state);
}

/* Refused for long enough: whoever was there is gone with all its streams. */
static void check_gone(struct source *source, usec_t now)
{
	const struct discovery_events *events = &source->discovery->events;
	uint32_t released;

	if (source->gone || !source->refused_since || now - source->refused_since <= gone_after)
		return;
	source->gone = true;
	released = feedback_process_gone(source->discovery->observe.facts, source->number, now);
	if (events->on_gone)
		events->on_gone(events->data, source->number, released);
}

static void failed(struct source *source, bool refused, const char *why, usec_t now)
{
	const struct discovery_events *events = &source->discovery->events;
	struct discovery_source *state = &source->state;
	usec_t heard = state->answered > source->started ? state->answered : source->started;
	bool first = state->error[0] == 0;

	state->failures++;
	copy_text(state->error, sizeof(state->error), (struct span){ why, strlen(why) });
	session_counts_lost(source->discovery->counts, source->number);
	if (!refused)
		source->refused_since = 0;
	else if (!source->refused_since)
		source->refused_since = now;
	if (state->up && (refused || now - heard > down_after)) {
		state->up = false;
		if (events->on_down)
			events->on_down(events->data, source->number, state);
	} else if (first && !state->answered && events->on_down) {
		events->on_down(events->data, source->number, state); /* never was up */
	}
	check_gone(source, now);
}

static void on_answer(void *data, const struct runtime_answer *answer)
{
	struct source *source = data;
	usec_t now = source->discovery->observe.now();
	struct snapshot *snapshot = &source->discovery->snapshot;

	if (answer->status != RUNTIME_OK)
		failed(source, answer->status == RUNTIME_REFUSED, answer->error, now);
	else if (!snapshot_read(snapshot, answer->text))
		failed(source, false, "the answer is not HAProxy's, or was cut", now);
	else
		answered(source, &snapshot->read, now);
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct source *source = timer->data;

	(void)events;
	if (runtime_ask(source->runtime, RUNTIME_QUESTIONS, on_answer, source))
		source->state.polls++;
	timer->repeat = (double)(source->discovery->interval +
	                         source->state.servers * interval_per_server) /
	                1e6;
	ev_timer_again(loop, timer);
}

void discovery_start(struct discovery *discovery)
{
	for (uint32_t i = 0; i < discovery->source_count; i++) {
		struct source *source = &discovery->sources[i];

		if (!source->started)
			source->started = discovery->observe.now();
		ev_timer_set(&source->timer, 0, (double)discovery->interval / 1e6);
		ev_timer_start(discovery->observe.loop, &source->timer);
	}
}

void discovery_stop(struct discovery *discovery)
{
	for (uint32_t i = 0; i < discovery->source_count; i++)
		ev_timer_stop(discovery->observe.loop, &discovery->sources[i].timer);
}

static bool add_source(struct discovery *discovery, const char *address, struct error *error)
{
	struct runtime_options options = {
		.address = address,
		.deadline = discovery->deadline,
		.answer_max = ANSWER_MAX,
	};
	struct source *source;

	if (discovery->source_count == SOURCES_MAX)
		return error_set(error, "%s: more than %d runtime sockets", address, SOURCES_MAX);
	source = &discovery->sources[discovery->source_count];
	source->runtime = runtime_new(&discovery->observe, &options, error);
	if (!source->runtime)
		return false;
	source->discovery = discovery;
	source->number = discovery->source_count++;
	copy_text(source->address, sizeof(source->address),
	          (struct span){ address, strlen(address) });
	source->state.address = source->address;
	ev_init(&source->timer, on_time);
	source->timer.data = source;
	return true;
}

static bool skip(struct discovery *discovery, const char *backend, struct error *error)
{
	struct span name = { backend, strlen(backend) };

	return fleet_skip(discovery->observe.facts->fleet, name) ||
	       error_set(error, "%s: too many backends to skip, or too long a name", backend);
}

/* "a,b*,c" */
static bool keep(struct discovery *discovery, const char *names, struct error *error)
{
	while (*names != '\0') {
		struct span name = { names, strcspn(names, ",") };

		if (!fleet_keep(discovery->observe.facts->fleet, name))
			return error_set(error, "%s: too many backends, or none or too long a name",
			                 names);
		names += name.len + (names[name.len] == ',');
	}
	return true;
}

static bool set_up(struct discovery *discovery, const struct discovery_options *options,
                   struct error *error)
{
	uint32_t targets = fleet_targets_max(discovery->observe.facts->fleet);

	if (!skip(discovery, CONTRACT_BACKEND, error) || !skip(discovery, models_backend, error))
		return false;
	for (size_t i = 0; i < options->skip_count; i++)
		if (!skip(discovery, options->skip[i], error))
			return false;
	for (size_t i = 0; i < options->keep_count; i++)
		if (!keep(discovery, options->keep[i], error))
			return false;
	for (size_t i = 0; i < options->source_count; i++)
		if (!add_source(discovery, options->sources[i], error))
			return false;
	if (discovery->source_count == 0)
		return true;
	discovery->counts = session_counts_new(targets, discovery->source_count);
	return discovery->counts || error_set(error, "out of memory");
}

struct discovery *discovery_new(const struct observe *observe,
                                const struct discovery_options *options,
                                const struct discovery_events *events, struct error *error)
{
	struct discovery *discovery = calloc(1, sizeof(*discovery));

	if (!discovery) {
		(void)error_set(error, "out of memory");
		return NULL;
	}
	discovery->observe = *observe;
	discovery->events = *events;
	discovery->interval = options->interval ? options->interval : default_interval;
	discovery->deadline = options->deadline ? options->deadline : default_deadline;
	if (set_up(discovery, options, error))
		return discovery;
	discovery_free(discovery);
	return NULL;
}

void discovery_free(struct discovery *discovery)
{
	if (!discovery)
		return;
	discovery_stop(discovery);
	for (uint32_t i = 0; i < discovery->source_count; i++)
		runtime_free(discovery->sources[i].runtime);
	session_counts_free(discovery->counts);
	snapshot_done(&discovery->snapshot);
	free(discovery);
}

size_t discovery_source_count(const struct discovery *discovery)
{
	return discovery->source_count;
}

const struct discovery_source *discovery_source_at(const struct discovery *discovery, size_t i)
{
	BUG_ON(i >= discovery->source_count);
	return &discovery->sources[i].state;
}

/* Pids repeat among containers, so the host counts first; but HAProxy can be told
 * another name for itself than the host's. */
bool discovery_source_of(const struct discovery *discovery, struct span process,
                         uint32_t *ret_source)
{
	struct span hosts[2] = { { NULL, 0 }, { NULL, 0 } };
	uint32_t pid;

	if (!process_read(process, &hosts[0], &pid))
		return false;
	for (size_t strict = 0; strict < 2; strict++)
		for (uint32_t i = 0; i < discovery->source_count; i++)
			if (processes_have(&discovery->sources[i].processes, hosts[strict], pid)) {
				*ret_source = i;
				return true;
			}
	return false;
}
