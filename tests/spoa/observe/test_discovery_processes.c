/* test_discovery_processes.c - HAProxy processes that are reloaded, silent or gone, and whose the
 * streams are that they leave. Proves R018, P054, B009. */
#include "tests/spoa/observe/discovery_stage.h"

static const char *const three[] = { "svc s1 10.0.0.1 80 2 0 100 0 0 256",
	                             "svc s2 10.0.0.2 80 2 0 100 0 0 256",
	                             "svc SRV_3 127.0.0.1 1 0 5 100 0 0 0",
	                             "infer-agents agent 127.0.0.1 9000 2 0 1 0 0 0",
	                             "infer-models agent 127.0.0.1 9901 2 0 1 0 0 0",
	                             "mine x 10.0.0.9 80 2 0 1 0 0 0",
	                             NULL };

static void a_silent_haproxy_keeps_its_servers(void **state)
{
	static struct stage stage;

	(void)state;
	open_answered(&stage, 11, three);
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
	open_answered(&stage, 11, three);
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
	open_answered(&stage, 11, before);
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

/* Decided between the old process's last answer and the new one's first: it may be in either,
 * and counts as the old one's, since live work must not leave the load. */
static void what_was_decided_while_the_process_changed_counts_as_the_old_ones(void **state)
{
	static const char *const before[] = { "svc s1 10.0.0.1 80 2 0 100 1 0 0", NULL };
	static const char *const after[] = { "svc s1 10.0.0.1 80 2 0 100 0 0 0", NULL };
	static const char *const with_new[] = { "svc s1 10.0.0.1 80 2 0 100 1 0 0", NULL };
	static struct stage stage;

	(void)state;
	open_answered(&stage, 11, before);
	open_stream(&stage, "old", "10.0.0.1:80");
	world_clock += SECOND;
	poll_times(&stage, 4);
	world_clock += 100 * MSEC;
	open_stream(&stage, "between", "10.0.0.1:80");
	world_clock += 100 * MSEC;
	answer(&stage, 0, 12, after);
	poll_times(&stage, 5);
	assert_int_equal(stage.reloads, 1);
	assert_true(running(&stage, "10.0.0.1:80") == 2);
	/* What is decided later is the new one's, and counted by it. */
	world_clock += 100 * MSEC;
	open_stream(&stage, "new", "10.0.0.1:80");
	answer(&stage, 0, 12, with_new);
	poll_times(&stage, 5);
	assert_true(running(&stage, "10.0.0.1:80") == 3);
	end_stream(&stage, "between");
	end_stream(&stage, "old");
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
	open_answered(&stage, 11, before);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silent_haproxy_keeps_its_servers),
		cmocka_unit_test(a_socket_that_refuses_for_five_seconds_is_a_process_gone),
		cmocka_unit_test(streams_of_a_process_reloaded_away_still_count),
		cmocka_unit_test(what_was_decided_while_the_process_changed_counts_as_the_old_ones),
		cmocka_unit_test(streams_of_a_process_that_died_do_not),
		cmocka_unit_test(a_socket_that_refuses_now_and_then_is_no_process_gone),
		cmocka_unit_test(log_lines_find_the_source_that_wrote_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
