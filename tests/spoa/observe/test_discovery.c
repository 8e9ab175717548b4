/* test_discovery.c - HAProxy's servers become the fleet, its sessions correct the
 * ledger. Proves R100, P054, P114, P115. */
#include "tests/spoa/observe/discovery_stage.h"

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
	open_answered(&stage, 11, three);
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
	open_answered(&stage, 11, three);
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_answer_is_the_fleet),
		cmocka_unit_test(servers_come_go_move_and_rest),
		cmocka_unit_test(after_a_restart_the_drift_takes_over),
		cmocka_unit_test(the_processes_of_one_fleet_add_up),
		cmocka_unit_test(a_source_that_is_down_leaves_the_sum_unknown),
		cmocka_unit_test(servers_without_counts_correct_nothing),
		cmocka_unit_test(a_fleet_larger_than_the_first_room_is_read_whole),
		cmocka_unit_test(without_sources_there_is_nothing_to_ask),
		cmocka_unit_test(what_cannot_be_a_source_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
