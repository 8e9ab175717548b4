/* test_deadlines.c - peers that are slow, silent, foreign or many; and the end.
 * Proves P021, B069 (a stranger's bytes allocate nothing). */
#include "tests/spoa/server/peer.h"

static void a_while(void)
{
	for (int i = 0; i < 10; i++) {
		ev_sleep(0.002);
		pump();
	}
}

static void an_http_request_is_turned_away_and_holds_nothing(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
	struct peer peer;

	(void)state;
	start();
	peer = peer_connect();
	peer_send(&peer, request, sizeof(request) - 1);
	expect_goodbye(&peer, SPOP_TOO_BIG);
	assert_int_equal(world.counters->refused, 1);
	assert_int_equal(world.server->connections->input_size, INPUT_FIRST);
	assert_null(world.server->connections->output);
	assert_int_equal(world.server->buffered, 0);
	peer_close(&peer);
	stop();
}

static void who_says_nothing_is_sent_away(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start_with(&options);
	peer = peer_connect();
	UNTIL(world.counters->open == 1);
	stub.now += options.handshake_timeout - 1;
	a_while();
	assert_int_equal(world.counters->errors[SPOP_TIMEOUT], 0);
	stub.now += 1;
	expect_goodbye(&peer, SPOP_TIMEOUT);
	assert_int_equal(world.counters->refused, 1);
	peer_close(&peer);
	stop();
}

static void a_hello_that_drips_in_does_not_win_time(void **state)
{
	struct spop_server_options options = usual();
	uint8_t bytes[256];
	struct peer peer;

	(void)state;
	(void)hex_read(GOLDEN_HELLO, bytes, sizeof(bytes));
	start_with(&options);
	peer = peer_connect();
	for (int i = 0; i < 5; i++) {
		peer_send(&peer, bytes + i, 1);
		a_while();
		stub.now += options.handshake_timeout / 5;
	}
	expect_goodbye(&peer, SPOP_TIMEOUT);
	peer_close(&peer);
	stop();
}

static void a_frame_that_drips_in_does_not_win_time(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start_with(&options);
	peer = peer_new();
	peer_send_hex(&peer, "0000");
	UNTIL(world.server->connections->frame_at != 0);
	for (int i = 0; i < 3; i++) {
		stub.now += options.frame_timeout / 4;
		peer_send_hex(&peer, i == 0 ? "00" : i == 1 ? "0c" : "03");
		a_while();
	}
	assert_int_equal(world.counters->errors[SPOP_TIMEOUT], 0);
	stub.now += options.frame_timeout / 4;
	expect_goodbye(&peer, SPOP_TIMEOUT);
	assert_non_null(strstr(world.line, "did not end in time"));
	peer_close(&peer);
	stop();
}

static void the_next_frame_has_its_own_time(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start_with(&options);
	peer = peer_new();
	for (int i = 0; i < 4; i++) {
		/* The rest of one and the beginning of another, each time. */
		peer_send_hex(&peer, i == 0 ? "00"
		                            : "00000c03000000010101037a7a7a00"
		                              "00");
		a_while();
		stub.now += options.frame_timeout - 1;
		a_while();
		if (i > 0)
			expect_ack(&peer, 1, 1);
	}
	assert_int_equal(world.counters->errors[SPOP_TIMEOUT], 0);
	stub.now += 1;
	expect_goodbye(&peer, SPOP_TIMEOUT);
	peer_close(&peer);
	stop();
}

static void a_whole_frame_leaves_no_deadline(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start_with(&options);
	peer = peer_new();
	peer_send_hex(&peer, "000000");
	UNTIL(world.server->connections->frame_at != 0);
	peer_send_hex(&peer, "0c03000000010101037a7a7a00");
	expect_ack(&peer, 1, 1);
	stub.now += options.frame_timeout + 1;
	a_while();
	assert_int_equal(world.counters->errors[SPOP_TIMEOUT], 0);
	assert_int_equal(world.counters->open, 1);
	peer_close(&peer);
	stop();
}

static void an_idle_connection_gets_a_goodbye(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start_with(&options);
	peer = peer_new();
	stub.now += options.idle_timeout - 1;
	a_while();
	assert_int_equal(world.counters->idle_closed, 0);
	ask(&peer, "u1", 1, 1);
	expect_ack(&peer, 1, 1);
	stub.now += options.idle_timeout - 1;
	a_while();
	assert_int_equal(world.counters->idle_closed, 0);
	stub.now += 1;
	expect_goodbye(&peer, SPOP_NONE);
	assert_int_equal(world.counters->idle_closed, 1);
	peer_close(&peer);
	stop();
}

static void who_does_not_close_after_a_goodbye_is_closed(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start_with(&options);
	peer = peer_new();
	peer_send_hex(&peer, GOLDEN_BYE);
	expect_goodbye(&peer, SPOP_NONE);
	peer_send_hex(&peer, GOLDEN_BYE); /* whatever it says now */
	a_while();
	assert_int_equal(world.counters->open, 1);
	stub.now += options.linger_timeout;
	UNTIL(world.counters->open == 0);
	peer_close(&peer);
	stop();
}

static void beyond_the_limit_nobody_gets_in_and_others_go_on(void **state)
{
	struct spop_server_options options = usual();
	struct peer a, b, c;

	(void)state;
	options.max_connections = 2;
	start_with(&options);
	a = peer_new();
	b = peer_new();
	c = peer_connect();
	expect_end(&c);
	assert_int_equal(world.counters->refused, 1);
	assert_int_equal(world.counters->open, 2);
	ask(&a, "u1", 1, 1);
	expect_ack(&a, 1, 1);
	peer_close(&b);
	UNTIL(world.counters->open == 1);
	peer_close(&c);
	c = peer_new();
	peer_close(&a);
	peer_close(&c);
	stop();
}

static void a_burst_of_connections_gets_in(void **state)
{
	static struct peer peers[300];

	(void)state;
	start();
	for (int i = 0; i < 300; i++)
		peers[i] = peer_connect();
	for (int i = 0; i < 300; i++)
		(void)say_hello(&peers[i], PEER_SIZE, "pipelining");
	assert_int_equal(world.counters->open, 300);
	assert_int_equal(world.counters->accepted, 300);
	for (int i = 0; i < 300; i++)
		peer_close(&peers[i]);
	stop();
}

static void draining_answers_what_is_in_and_says_goodbye(void **state)
{
	struct peer asking, idle, stranger;
	struct sockaddr_in gone = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint8_t bytes[4096];
	static struct stub_notify notify;
	size_t length;

	(void)state;
	start();
	asking = peer_new();
	idle = peer_new();
	stranger = peer_connect();
	UNTIL(world.counters->open == 3);
	gone.sin_port = htons(spop_server_port(world.server, 0));
	gone.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	notify_start(&notify);
	put_route(&notify, "u1", 0);
	length = wrap(bytes, sizeof(bytes), notify_end(&notify), 1, 1);
	assert_int_equal(write(asking.fd, bytes, length), length);
	spop_server_drain(world.server);
	expect_ack(&asking, 1, 1);
	expect_goodbye(&asking, SPOP_NONE);
	expect_goodbye(&idle, SPOP_NONE);
	expect_end(&stranger);
	assert_int_equal(connect(fd, (struct sockaddr *)&gone, sizeof(gone)), -1);
	peer_close(&asking);
	peer_close(&idle);
	peer_close(&stranger);
	UNTIL(world.counters->open == 0);
	assert_int_equal(world.counters->resets, 0);
	(void)close(fd);
	stop();
}

static void who_does_not_leave_when_drained_is_closed(void **state)
{
	struct spop_server_options options = usual();
	struct peer peer;

	(void)state;
	start_with(&options);
	peer = peer_new();
	spop_server_drain(world.server);
	expect_goodbye(&peer, SPOP_NONE);
	assert_int_equal(world.counters->open, 1);
	stub.now += options.linger_timeout;
	UNTIL(world.counters->open == 0);
	peer_close(&peer);
	stop();
}

static void freeing_with_open_connections_leaves_nothing(void **state)
{
	struct peer open, half, stranger;

	(void)state;
	start();
	open = peer_new();
	half = peer_new();
	peer_send_hex(&half, "000000");
	stranger = peer_connect();
	UNTIL(world.counters->open == 3);
	stop();
	peer_close(&open);
	peer_close(&half);
	peer_close(&stranger);
	spop_server_free(NULL);
}

int main(void)
{
	const struct CMUnitTest deadlines[] = {
		cmocka_unit_test(an_http_request_is_turned_away_and_holds_nothing),
		cmocka_unit_test(who_says_nothing_is_sent_away),
		cmocka_unit_test(a_hello_that_drips_in_does_not_win_time),
		cmocka_unit_test(a_frame_that_drips_in_does_not_win_time),
		cmocka_unit_test(the_next_frame_has_its_own_time),
		cmocka_unit_test(a_whole_frame_leaves_no_deadline),
		cmocka_unit_test(an_idle_connection_gets_a_goodbye),
		cmocka_unit_test(who_does_not_close_after_a_goodbye_is_closed),
		cmocka_unit_test(beyond_the_limit_nobody_gets_in_and_others_go_on),
		cmocka_unit_test(a_burst_of_connections_gets_in),
		cmocka_unit_test(draining_answers_what_is_in_and_says_goodbye),
		cmocka_unit_test(who_does_not_leave_when_drained_is_closed),
		cmocka_unit_test(freeing_with_open_connections_leaves_nothing),
	};

	return cmocka_run_group_tests(deadlines, NULL, NULL);
}
