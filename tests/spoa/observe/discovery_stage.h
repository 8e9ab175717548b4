/* discovery_stage.h - discovery with one or two HAProxies that say what a test lets them say.
 *
 * The loop's timers are real and short; what is compared with the clock is in
 * virtual time. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/discovery.h"
#include "tests/spoa/observe/peer.h"
#include "tests/spoa/observe/world.h"

enum { PEERS = 2, TEXT_MAX = 4096, ANSWER_ROOM = 3 * TEXT_MAX };

struct stage {
	struct ev_loop *loop;
	struct world world;
	struct peer peers[PEERS];
	char texts[PEERS][ANSWER_ROOM];
	struct discovery *discovery;
	unsigned changes, ups, downs, reloads, gone, released;
	struct fleet_change change;
	uint64_t polls_wanted;
};

static inline void on_change(void *data, uint32_t source, const struct fleet_change *change)
{
	struct stage *stage = data;

	(void)source;
	stage->changes++;
	stage->change = *change;
}

static inline void on_up(void *data, uint32_t source, const struct discovery_source *state)
{
	struct stage *stage = data;

	assert_true(source < PEERS && state->up);
	stage->ups++;
}

static inline void on_down(void *data, uint32_t source, const struct discovery_source *state)
{
	struct stage *stage = data;

	assert_true(source < PEERS && !state->up && state->error[0]);
	stage->downs++;
}

static inline void on_reload(void *data, uint32_t source, const struct discovery_source *state)
{
	struct stage *stage = data;

	assert_true(source < PEERS && state->reloads > 0);
	stage->reloads++;
}

static inline void on_process_gone(void *data, uint32_t source, uint32_t released)
{
	struct stage *stage = data;

	assert_true(source < PEERS);
	stage->gone++;
	stage->released += released;
}

/* rows: "backend server ip port op admin weight scur qcur slim", one each. */
static inline void answer(struct stage *stage, size_t peer, unsigned pid, const char *const *rows)
{
	char state[TEXT_MAX] = "", stat[TEXT_MAX] = "";

	for (; *rows; rows++) {
		char f[10][64];

		assert_int_equal(sscanf(*rows, "%63s %63s %63s %63s %63s %63s %63s %63s %63s %63s",
		                        f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9]),
		                 10);
		(void)snprintf(state + strlen(state), sizeof(state) - strlen(state),
		               "1 %s 1 %s %s %s %s %s %s\n", f[0], f[1], f[2], f[4], f[5], f[6],
		               f[3]);
		(void)snprintf(stat + strlen(stat), sizeof(stat) - strlen(stat),
		               "%s,%s,%s,0,%s,0,%s,\n", f[0], f[1], f[8], f[7], f[9]);
	}
	(void)snprintf(stage->texts[peer], ANSWER_ROOM,
	               "Version: 3.0.1\nPid: %u\nnode: host%zu\nStopping: 0\nDroppedLogs: 3\n\n"
	               "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state "
	               "srv_uweight srv_port\n%s\n# pxname,svname,qcur,qmax,scur,smax,slim,\n%s\n",
	               pid, peer, state, stat);
	peer_say(&stage->peers[peer], stage->texts[peer]);
}

static inline void open_stage(struct stage *stage, size_t sources)
{
	struct observe observe = { .now = world_now };
	struct discovery_options options = { .interval = 5 * MSEC, .deadline = 100 * MSEC };
	struct discovery_events events = { on_change, on_up,           on_down,
		                           on_reload, on_process_gone, stage };
	const char *addresses[PEERS] = { NULL };
	const char *skip[] = { "mine" };
	struct error error = { "" };

	memset(stage, 0, sizeof(*stage));
	world_open(&stage->world);
	stage->loop = ev_loop_new(EVFLAG_AUTO);
	for (size_t i = 0; i < sources; i++) {
		stage->peers[i].loop = stage->loop;
		peer_path(stage->peers[i].path, sizeof(stage->peers[i].path), i ? "b" : "a");
		peer_start_unix(&stage->peers[i]);
		addresses[i] = stage->peers[i].path;
	}
	observe.loop = stage->loop;
	observe.facts = stage->world.facts;
	options.sources = addresses;
	options.source_count = sources;
	options.skip = skip;
	options.skip_count = 1;
	stage->discovery = discovery_new(&observe, &options, &events, &error);
	assert_non_null(stage->discovery);
}

static inline void close_stage(struct stage *stage)
{
	discovery_free(stage->discovery);
	for (size_t i = 0; i < PEERS; i++)
		if (stage->peers[i].loop)
			peer_stop(&stage->peers[i]);
	ev_loop_destroy(stage->loop);
	world_close(&stage->world);
}

static inline bool polled(void *data)
{
	struct stage *stage = data;

	for (size_t i = 0; i < discovery_source_count(stage->discovery); i++)
		if (discovery_source_at(stage->discovery, i)->polls < stage->polls_wanted)
			return false;
	return true;
}

/* Each source is asked so often more, and has answered. */
static inline void poll_times(struct stage *stage, unsigned times)
{
	uint64_t most = 0;

	for (size_t i = 0; i < discovery_source_count(stage->discovery); i++) {
		uint64_t polls = discovery_source_at(stage->discovery, i)->polls;

		most = polls > most ? polls : most;
	}
	discovery_start(stage->discovery);
	stage->polls_wanted = most + times;
	assert_true(loop_until(stage->loop, polled, stage, 10));
	discovery_stop(stage->discovery);
	loop_for(stage->loop, 0.03); /* what was asked is answered */
}

static inline double running(const struct stage *stage, const char *address)
{
	return ledger_running(stage->world.facts->ledger, world_target(&stage->world, address),
	                      world_clock);
}

static inline const struct replica *replica_named(const struct stage *stage, const char *instance,
                                                  const char *name)
{
	const struct fleet *fleet = stage->world.facts->fleet;

	return fleet_replica_named(fleet, fleet_instance_named(fleet, span_of(instance)), 0,
	                           span_of(name));
}

/* A stream as the pipeline would open it: in the ledger and the in-flight table. */
static inline void open_stream(struct stage *stage, const char *id, const char *address)
{
	struct facts *facts = stage->world.facts;
	struct flight *flight;

	assert_int_equal(
	        inflight_open(facts->inflight, flight_id_of(span_of(id)), world_clock, &flight),
	        INFLIGHT_OK);
	flight->source = 0;
	flight->replica_slot = ledger_acquire(facts->ledger, world_target(&stage->world, address),
	                                      0, 0, world_clock);
}

static inline void end_stream(struct stage *stage, const char *id)
{
	struct facts *facts = stage->world.facts;
	struct flight flight;

	assert_int_equal(
	        inflight_end(facts->inflight, flight_id_of(span_of(id)), world_clock, &flight),
	        INFLIGHT_END_OPEN);
	assert_true(ledger_release(facts->ledger, flight.replica_slot, world_clock));
}

/* One source that has answered once. */
static inline void open_answered(struct stage *stage, unsigned pid, const char *const *rows)
{
	open_stage(stage, 1);
	answer(stage, 0, pid, rows);
	poll_times(stage, 1);
}
