/* test_discovery.c - HAProxy's servers become the fleet, its sessions correct the
 * ledger. Proves R100, R018, P054, P114, P115, and what a reload does to scur.
 *
 * The loop's timers are real and short; what is compared with the clock is in
 * virtual time. */
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

static void on_change(void *data, uint32_t source, const struct fleet_change *change)
{
	struct stage *stage = data;

	(void)source;
	stage->changes++;
	stage->change = *change;
}

static void on_up(void *data, uint32_t source, const struct discovery_source *state)
{
	struct stage *stage = data;

	assert_true(source < PEERS && state->up);
	stage->ups++;
}

static void on_down(void *data, uint32_t source, const struct discovery_source *state)
{
	struct stage *stage = data;

	assert_true(source < PEERS && !state->up && state->error[0]);
	stage->downs++;
}

static void on_reload(void *data, uint32_t source, const struct discovery_source *state)
{
	struct stage *stage = data;

	assert_true(source < PEERS && state->reloads > 0);
	stage->reloads++;
}

static void on_process_gone(void *data, uint32_t source, uint32_t released)
{
	struct stage *stage = data;

	assert_true(source < PEERS);
	stage->gone++;
	stage->released += released;
}

/* rows: "backend server ip port op admin weight scur qcur slim", one each. */
static void answer(struct stage *stage, size_t peer, unsigned pid, const char *const *rows)
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

static void open_stage(struct stage *stage, size_t sources)
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

static void close_stage(struct stage *stage)
{
	discovery_free(stage->discovery);
	for (size_t i = 0; i < PEERS; i++)
		if (stage->peers[i].loop)
			peer_stop(&stage->peers[i]);
	ev_loop_destroy(stage->loop);
	world_close(&stage->world);
}

static bool polled(void *data)
{
	struct stage *stage = data;

	for (size_t i = 0; i < discovery_source_count(stage->discovery); i++)
		if (discovery_source_at(stage->discovery, i)->polls < stage->polls_wanted)
			return false;
	return true;
}

/* Each source is asked so often more, and has answered. */
static void poll_times(struct stage *stage, unsigned times)
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

static double running(const struct stage *stage, const char *address)
{
	return ledger_running(stage->world.facts->ledger, world_target(&stage->world, address),
	                      world_clock);
}

static const struct replica *replica_named(const struct stage *stage, const char *instance,
                                           const char *name)
{
	const struct fleet *fleet = stage->world.facts->fleet;

	return fleet_replica_named(fleet, fleet_instance_named(fleet, span_of(instance)), 0,
	                           span_of(name));
}

/* A stream as the pipeline would open it: in the ledger and the in-flight table. */
static void open_stream(struct stage *stage, const char *id, const char *address)
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

static void end_stream(struct stage *stage, const char *id)
{
	struct facts *facts = stage->world.facts;
	struct flight flight;

	assert_int_equal(
	        inflight_end(facts->inflight, flight_id_of(span_of(id)), world_clock, &flight),
	        INFLIGHT_END_OPEN);
	assert_true(ledger_release(facts->ledger, flight.replica_slot, world_clock));
}

static const char *const three[] = { "svc s1 10.0.0.1 80 2 0 100 0 0 256",
	                             "svc s2 10.0.0.2 80 2 0 100 0 0 256",
	                             "svc SRV_3 127.0.0.1 1 0 5 100 0 0 0",
	                             "infer-agents agent 127.0.0.1 9000 2 0 1 0 0 0",
	                             "infer-models agent 127.0.0.1 9901 2 0 1 0 0 0",
	                             "mine x 10.0.0.9 80 2 0 1 0 0 0",
	                             NULL };

static void the_first_answer_is_the_fleet(void **state)
{
	static struct stage stage;
	const struct discovery_source *source;
	const struct fleet *fleet;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, three);
	poll_times(&stage, 1);
	fleet = stage.world.facts->fleet;
	assert_int_equal(fleet_instance_count(fleet), 1);
	assert_int_equal(fleet_instance_at(fleet, 0)->replica_count, 2);
	assert_int_equal(replica_named(&stage, "svc", "s1")->max_running, 256);
	assert_int_equal(stage.ups, 1);
	assert_int_equal(stage.changes, 1);
	assert_int_equal(stage.change.replicas_added, 2);
	source = discovery_source_at(stage.discovery, 0);
	assert_int_equal(source->pid, 11);
	assert_string_equal(source->version, "3.0.1");
	assert_int_equal(source->dropped_logs, 3);
	assert_int_equal(source->servers, 2);
	/* The same again is no change. */
	poll_times(&stage, 2);
	assert_int_equal(stage.changes, 1);
	close_stage(&stage);
}

static void servers_come_go_move_and_rest(void **state)
{
	static const char *const later[] = { "svc s1 10.0.0.1 80 2 1 100 0 0 0",
		                             "svc s2 10.0.0.7 80 2 0 100 0 0 0",
		                             "svc s3 10.0.0.3 80 0 0 100 0 0 0",
		                             "svc s4 10.0.0.4 80 2 8 100 0 0 0", NULL };
	static struct stage stage;
	uint32_t old;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, three);
	poll_times(&stage, 1);
	old = world_target(&stage.world, "10.0.0.2:80");
	assert_true(old != TARGET_NONE);
	open_stream(&stage, "one", "10.0.0.2:80");
	answer(&stage, 0, 11, later);
	poll_times(&stage, 1);
	/* Whoever has its id now starts with nothing. */
	assert_int_equal(ledger_work(stage.world.facts->ledger, old, world_clock).running, 0);
	assert_false(replica_named(&stage, "svc", "s1")->usable); /* in maintenance */
	assert_string_equal(replica_named(&stage, "svc", "s2")->target->label, "10.0.0.7:80");
	assert_int_equal(world_target(&stage.world, "10.0.0.2:80"), TARGET_NONE);
	assert_false(replica_named(&stage, "svc", "s3")->up);
	assert_false(replica_named(&stage, "svc", "s4")->usable); /* draining */
	assert_int_equal(discovery_source_at(stage.discovery, 0)->servers_down, 1);
	close_stage(&stage);
}

static void after_a_restart_the_drift_takes_over(void **state)
{
	static const char *const busy[] = { "svc s1 10.0.0.1 80 2 0 100 9 1 0",
		                            "svc s2 10.0.0.2 80 2 0 100 0 0 0", NULL };
	static struct stage stage;
	double queued = -1;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, busy);
	poll_times(&stage, 4);
	assert_true(running(&stage, "10.0.0.1:80") == 10);
	assert_true(running(&stage, "10.0.0.2:80") == 0);
	assert_true(engines_queue(stage.world.facts->engines,
	                          world_target(&stage.world, "10.0.0.1:80"), world_clock, SECOND,
	                          &queued));
	assert_true(queued == 1);
	close_stage(&stage);
}

static void the_processes_of_one_fleet_add_up(void **state)
{
	static const char *const a[] = { "svc s1 10.0.0.1 80 2 0 100 3 0 0",
		                         "other x 10.0.0.1 80 2 0 100 2 0 0",
		                         "mine y 10.0.0.1 80 2 0 100 50 0 0", NULL };
	static const char *const b[] = { "svc web7 10.0.0.1 80 2 0 100 4 1 0", NULL };
	static struct stage stage;
	const struct replica *replica;

	(void)state;
	open_stage(&stage, 2);
	answer(&stage, 0, 11, a);
	answer(&stage, 1, 12, b);
	poll_times(&stage, 6);
	assert_true(running(&stage, "10.0.0.1:80") == 10);
	replica = replica_named(&stage, "svc", "s1");
	assert_string_equal(fleet_replica_name(replica, 1), "web7");
	close_stage(&stage);
}

static void a_source_that_is_down_leaves_the_sum_unknown(void **state)
{
	static const char *const a[] = { "svc s1 10.0.0.1 80 2 0 100 9 0 0", NULL };
	static struct stage stage;

	(void)state;
	open_stage(&stage, 2);
	answer(&stage, 0, 11, a);
	answer(&stage, 1, 12, a);
	stage.peers[1].manners = PEER_CUTS;
	poll_times(&stage, 6);
	assert_int_equal(stage.ups, 1);
	assert_int_equal(stage.downs, 1); /* never was up: told once */
	assert_true(running(&stage, "10.0.0.1:80") == 0);
	/* And its servers are those it had: half an answer is none. */
	assert_int_equal(discovery_source_at(stage.discovery, 1)->answered, 0);
	assert_true(discovery_source_at(stage.discovery, 1)->failures >= 6);
	close_stage(&stage);
}

static void a_silent_haproxy_keeps_its_servers(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, three);
	poll_times(&stage, 1);
	stage.peers[0].manners = PEER_CLOSES;
	poll_times(&stage, 2);
	assert_int_equal(stage.downs, 0); /* not for one or two */
	world_clock += 4 * SECOND;
	poll_times(&stage, 2);
	assert_int_equal(stage.downs, 1);
	world_clock += 60 * SECOND;
	poll_times(&stage, 2);
	assert_int_equal(stage.gone, 0); /* it listens, so it lives */
	assert_int_equal(fleet_instance_at(stage.world.facts->fleet, 0)->replica_count, 2);
	stage.peers[0].manners = PEER_ANSWERS;
	poll_times(&stage, 1);
	assert_int_equal(stage.ups, 2);
	assert_string_equal(discovery_source_at(stage.discovery, 0)->error, "");
	close_stage(&stage);
}

static void a_socket_that_refuses_for_five_seconds_is_a_process_gone(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, three);
	poll_times(&stage, 1);
	open_stream(&stage, "one", "10.0.0.1:80");
	open_stream(&stage, "two", "10.0.0.1:80");
	world_clock += MSEC;
	peer_stop(&stage.peers[0]);
	poll_times(&stage, 1);
	assert_int_equal(stage.downs, 1); /* at once */
	world_clock += 5 * SECOND;
	poll_times(&stage, 1);
	assert_int_equal(stage.gone, 0);
	assert_int_equal(inflight_count(stage.world.facts->inflight), 2);
	world_clock += MSEC;
	poll_times(&stage, 3);
	assert_int_equal(stage.gone, 1);
	assert_int_equal(stage.released, 2);
	assert_int_equal(inflight_count(stage.world.facts->inflight), 0);
	assert_true(running(&stage, "10.0.0.1:80") == 0);
	assert_int_equal(fleet_instance_at(stage.world.facts->fleet, 0)->replica_count, 2);
	/* It comes back as another. */
	peer_start_unix(&stage.peers[0]);
	answer(&stage, 0, 12, three);
	poll_times(&stage, 2);
	assert_int_equal(stage.ups, 2);
	assert_int_equal(stage.reloads, 1);
	/* And goes again: that is told again. */
	peer_stop(&stage.peers[0]);
	poll_times(&stage, 1);
	world_clock += 6 * SECOND;
	poll_times(&stage, 1);
	assert_int_equal(stage.gone, 2);
	close_stage(&stage);
}

static void streams_of_a_process_reloaded_away_still_count(void **state)
{
	static const char *const before[] = { "svc s1 10.0.0.1 80 2 0 100 2 0 0", NULL };
	static const char *const after[] = { "svc s1 10.0.0.1 80 2 0 100 1 0 0", NULL };
	static struct stage stage;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, before);
	poll_times(&stage, 1);
	open_stream(&stage, "old-1", "10.0.0.1:80");
	open_stream(&stage, "old-2", "10.0.0.1:80");
	world_clock += SECOND;
	poll_times(&stage, 4);
	assert_true(running(&stage, "10.0.0.1:80") == 2);
	/* The new process counts its own stream only. */
	world_clock += SECOND;
	open_stream(&stage, "new-1", "10.0.0.1:80");
	answer(&stage, 0, 12, after);
	poll_times(&stage, 5);
	assert_int_equal(stage.reloads, 1);
	assert_true(running(&stage, "10.0.0.1:80") == 3);
	end_stream(&stage, "old-1");
	end_stream(&stage, "old-2");
	poll_times(&stage, 4);
	assert_true(running(&stage, "10.0.0.1:80") == 1);
	close_stage(&stage);
}

/* After a stop in between, nobody serves them any more. */
static void streams_of_a_process_that_died_do_not(void **state)
{
	static const char *const before[] = { "svc s1 10.0.0.1 80 2 0 100 2 0 0", NULL };
	static const char *const after[] = { "svc s1 10.0.0.1 80 2 0 100 0 0 0", NULL };
	static struct stage stage;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, before);
	poll_times(&stage, 1);
	open_stream(&stage, "old-1", "10.0.0.1:80");
	open_stream(&stage, "old-2", "10.0.0.1:80");
	world_clock += SECOND;
	poll_times(&stage, 1);
	peer_stop(&stage.peers[0]);
	poll_times(&stage, 1);
	peer_start_unix(&stage.peers[0]);
	answer(&stage, 0, 12, after);
	poll_times(&stage, 4);
	assert_true(running(&stage, "10.0.0.1:80") == 0);
	close_stage(&stage);
}

static void a_socket_that_refuses_now_and_then_is_no_process_gone(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, three);
	for (int round = 0; round < 3; round++) {
		poll_times(&stage, 1);
		peer_stop(&stage.peers[0]);
		poll_times(&stage, 1);
		world_clock += 4 * SECOND;
		poll_times(&stage, 1);
		peer_start_unix(&stage.peers[0]);
	}
	assert_int_equal(stage.gone, 0);
	/* Nor is one that accepts in between, without an answer. */
	peer_stop(&stage.peers[0]);
	poll_times(&stage, 1);
	world_clock += 4 * SECOND;
	stage.peers[0].manners = PEER_CLOSES;
	peer_start_unix(&stage.peers[0]);
	poll_times(&stage, 1);
	peer_stop(&stage.peers[0]);
	world_clock += 4 * SECOND;
	poll_times(&stage, 1);
	assert_int_equal(stage.gone, 0);
	close_stage(&stage);
}

static void servers_without_counts_correct_nothing(void **state)
{
	static struct stage stage;
	char *stat;

	(void)state;
	open_stage(&stage, 1);
	answer(&stage, 0, 11, three);
	stat = strstr(stage.texts[0], "# pxname");
	(void)snprintf(stat, 32, "Permission denied\n\n");
	peer_say(&stage.peers[0], stage.texts[0]);
	poll_times(&stage, 1);
	open_stream(&stage, "one", "10.0.0.1:80");
	poll_times(&stage, 5);
	assert_true(running(&stage, "10.0.0.1:80") == 1);
	assert_false(ledger_reconciled(stage.world.facts->ledger,
	                               world_target(&stage.world, "10.0.0.1:80"), world_clock,
	                               100 * SECOND));
	close_stage(&stage);
}

static void log_lines_find_the_source_that_wrote_them(void **state)
{
	static struct stage stage;
	uint32_t source = 99;

	(void)state;
	open_stage(&stage, 2);
	answer(&stage, 0, 11, three);
	answer(&stage, 1, 11, three); /* in another container: the same pid */
	poll_times(&stage, 1);
	assert_true(discovery_source_of(stage.discovery, span_of("host1/11"), &source));
	assert_int_equal(source, 1);
	assert_true(discovery_source_of(stage.discovery, span_of("host0/11"), &source));
	assert_int_equal(source, 0);
	assert_true(discovery_source_of(stage.discovery, span_of("renamed/11"), &source));
	assert_false(discovery_source_of(stage.discovery, span_of("host1/12"), &source));
	assert_false(discovery_source_of(stage.discovery, span_of("-"), &source));
	answer(&stage, 1, 12, three);
	poll_times(&stage, 1);
	assert_true(discovery_source_of(stage.discovery, span_of("host1/12"), &source));
	assert_int_equal(source, 1);
	assert_true(discovery_source_of(stage.discovery, span_of("host1/11"), &source));
	assert_int_equal(source, 1);
	close_stage(&stage);
}

static void a_fleet_larger_than_the_first_room_is_read_whole(void **state)
{
	static char text[TEXT_MAX * 16];
	static struct stage stage;
	size_t used;

	(void)state;
	open_stage(&stage, 1);
	used = (size_t)snprintf(text, sizeof(text),
	                        "Pid: 1\n\n# be_name srv_name srv_addr srv_op_state "
	                        "srv_admin_state srv_uweight srv_port\n");
	for (int i = 0; i < 600; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		                         "svc s%d 127.0.0.1 2 0 100 1\n", i);
	(void)snprintf(text + used, sizeof(text) - used, "svc last 10.0.0.1 2 0 100 80\n\n");
	peer_say(&stage.peers[0], text);
	poll_times(&stage, 1);
	assert_non_null(replica_named(&stage, "svc", "last"));
	close_stage(&stage);
}

static void without_sources_there_is_nothing_to_ask(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, 0);
	discovery_start(stage.discovery);
	loop_for(stage.loop, 0.02);
	assert_int_equal(discovery_source_count(stage.discovery), 0);
	close_stage(&stage);
}

static void what_cannot_be_a_source_is_told(void **state)
{
	const char *many[SOURCES_MAX + 1], *bad[] = { "nowhere" };
	struct discovery_options options = { .sources = bad, .source_count = 1 };
	struct discovery_events events = { 0 };
	struct error error = { "" };
	struct observe observe = { .now = world_now };
	static struct world world;

	(void)state;
	world_open(&world);
	observe.facts = world.facts;
	observe.loop = ev_loop_new(EVFLAG_AUTO);
	assert_null(discovery_new(&observe, &options, &events, &error));
	assert_non_null(strstr(error.text, "nowhere"));
	for (size_t i = 0; i <= SOURCES_MAX; i++)
		many[i] = "/run/x.sock";
	error.text[0] = 0;
	options.sources = many;
	options.source_count = SOURCES_MAX + 1;
	assert_null(discovery_new(&observe, &options, &events, &error));
	assert_non_null(strstr(error.text, "more than 4"));
	ev_loop_destroy(observe.loop);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest discovery[] = {
		cmocka_unit_test(the_first_answer_is_the_fleet),
		cmocka_unit_test(servers_come_go_move_and_rest),
		cmocka_unit_test(after_a_restart_the_drift_takes_over),
		cmocka_unit_test(the_processes_of_one_fleet_add_up),
		cmocka_unit_test(a_source_that_is_down_leaves_the_sum_unknown),
		cmocka_unit_test(a_silent_haproxy_keeps_its_servers),
		cmocka_unit_test(a_socket_that_refuses_for_five_seconds_is_a_process_gone),
		cmocka_unit_test(streams_of_a_process_reloaded_away_still_count),
		cmocka_unit_test(streams_of_a_process_that_died_do_not),
		cmocka_unit_test(a_socket_that_refuses_now_and_then_is_no_process_gone),
		cmocka_unit_test(servers_without_counts_correct_nothing),
		cmocka_unit_test(log_lines_find_the_source_that_wrote_them),
		cmocka_unit_test(a_fleet_larger_than_the_first_room_is_read_whole),
		cmocka_unit_test(without_sources_there_is_nothing_to_ask),
		cmocka_unit_test(what_cannot_be_a_source_is_told),
	};

	return cmocka_run_group_tests(discovery, NULL, NULL);
}
